package dev.tollgate.local.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.TextNode;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalTest {
  private static final TextNode RED = new TextNode("red");
  private static final TextNode BLUE = new TextNode("blue");

  @TempDir private Path directory;

  private Journal open() {
    return new Journal(Optional.of(directory), "colours");
  }

  @Test
  void a_reopened_journal_has_the_last_value_of_each_present_key() {
    try (Journal journal = open()) {
      journal.put("a", RED);
      journal.put("b", RED);
      journal.put("a", BLUE);
      journal.remove("b");
    }

    try (Journal journal = open()) {
      assertThat(journal.values()).isEqualTo(Map.of("a", BLUE));
      assertThat(directory.resolve("colours"))
          .content()
          .isEqualTo("{\"value\":\"blue\",\"key\":\"a\"}\n");
    }
  }

  @Test
  void a_line_without_a_key_is_refused_and_the_file_is_kept() throws Exception {
    Path file = Files.writeString(directory.resolve("colours"), "{\"group\":\"default\"}\n");

    assertThatThrownBy(this::open)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("colours:1: no \"key\"");
    assertThat(file).content().isEqualTo("{\"group\":\"default\"}\n");
  }
}
