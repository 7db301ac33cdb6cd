package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.cli.http.Failure;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenCommandTest {
  private static TokenCommand command(String command, Duration limit) {
    return new TokenCommand(command, Path.of("."), limit);
  }

  @Test
  void the_token_is_what_the_command_prints_without_the_line_end() {
    assertThat(command("echo of-$TENANT", TokenCommand.LIMIT).token("acme")).isEqualTo("of-acme");
  }

  /** The second closes its output and goes on. */
  @ParameterizedTest
  @ValueSource(strings = {"sleep 60", "echo x; exec >&-; sleep 60"})
  @Timeout(20)
  void a_command_that_takes_too_long_is_ended(String command) {
    assertThatThrownBy(() -> command(command, Duration.ofMillis(300)).token("acme"))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("--token-command: no token for tenant acme within");
  }
}
