package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The pages for incidents name the logs of AWS and of {@code tollgate up}. */
class RunbooksTest {
  private static final Pattern LOGS = Pattern.compile("log groups?\\b|saved quer(y|ies)");

  @Test
  void pages_that_name_logs_on_aws_name_the_local_log() throws Exception {
    Path docs = MarkdownFiles.ROOT.resolve("docs");
    List<Path> pages =
        MarkdownFiles.all().stream()
            .filter(
                page ->
                    page.startsWith(docs.resolve("runbooks"))
                        || page.endsWith("respond-to-an-incident.md"))
            .filter(page -> LOGS.matcher(MarkdownFiles.read(page)).find())
            .toList();

    assertThat(pages)
        .hasSizeGreaterThan(5)
        .allSatisfy(page -> assertThat(MarkdownFiles.read(page)).contains("`.tollgate/up.log`"));
  }
}
