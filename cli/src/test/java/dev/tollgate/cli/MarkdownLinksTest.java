package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Relative links in Markdown files lead to existing files and headings; the README is short. */
class MarkdownLinksTest {
  private static final Pattern CODE_BLOCK =
      Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern CODE = Pattern.compile("`[^`\n]*`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern ABSOLUTE = Pattern.compile("[a-z]+:.*");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.+?) *$", Pattern.MULTILINE);

  @Test
  void relative_links_of_all_markdown_files_lead_somewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path file : MarkdownFiles.all()) {
      for (String link : links(MarkdownFiles.read(file))) {
        links++;
        if (!leadsSomewhere(file, link)) {
          broken.add(MarkdownFiles.ROOT.relativize(file) + ": " + link);
        }
      }
    }

    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(100);
  }

  @Test
  void readme_is_short() {
    assertThat(MarkdownFiles.read(MarkdownFiles.ROOT.resolve("README.md")).lines())
        .hasSizeLessThanOrEqualTo(150);
  }

  @Test
  void link_without_a_file_or_heading_is_found() {
    Path file = MarkdownFiles.ROOT.resolve("README.md");

    assertThat(leadsSomewhere(file, "docs/README.md#how-to-do-one-thing")).isTrue();
    assertThat(leadsSomewhere(file, "docs/README.md#nowhere")).isFalse();
    assertThat(leadsSomewhere(file, "docs/nowhere.md")).isFalse();
    assertThat(leadsSomewhere(file, "#nowhere")).isFalse();
  }

  @Test
  void anchors_are_those_of_github() {
    assertThat(anchors("# Is `a_b` = 1, or c-d?\n## Twice\n## Twice\n## [Linked](to.md) *text*\n"))
        .containsExactlyInAnyOrder("is-a_b--1-or-c-d", "twice", "twice-1", "linked-text");
  }

  /** The links outside of code that are relative to their file. */
  private static List<String> links(String text) {
    String prose = CODE.matcher(CODE_BLOCK.matcher(text).replaceAll("")).replaceAll("");
    return LINK.matcher(prose)
        .results()
        .map(found -> found.group(1))
        .filter(link -> !ABSOLUTE.matcher(link).matches())
        .toList();
  }

  private static boolean leadsSomewhere(Path file, String link) {
    int hash = link.indexOf('#');
    String path = hash < 0 ? link : link.substring(0, hash);
    Path target = path.isEmpty() ? file : file.resolveSibling(path);
    return Files.exists(target)
        && (hash < 0 || anchors(MarkdownFiles.read(target)).contains(link.substring(hash + 1)));
  }

  /** The anchors that GitHub gives the headings of a text. */
  private static Set<String> anchors(String text) {
    Set<String> anchors = new HashSet<>();
    Map<String, Integer> seen = new HashMap<>();
    HEADING
        .matcher(CODE_BLOCK.matcher(text).replaceAll(""))
        .results()
        .map(found -> found.group(1).replaceAll("\\]\\([^)]*\\)", "]"))
        .map(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", ""))
        .map(heading -> heading.replace(' ', '-'))
        .forEach(
            slug -> {
              int count = seen.merge(slug, 1, Integer::sum) - 1;
              anchors.add(count == 0 ? slug : slug + "-" + count);
            });
    return anchors;
  }
}
