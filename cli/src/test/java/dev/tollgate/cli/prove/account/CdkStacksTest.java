package dev.tollgate.cli.prove.account;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The processes of the CDK and the signals of a terminal. */
// A read from a process does not end at an interrupt.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class CdkStacksTest {
  private static Process start(String script) throws IOException {
    return new ProcessBuilder(CdkStacks.detached(List.of("sh", "-c", script))).start();
  }

  private static void signal(String name, long process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process)).start().waitFor())
        .isZero();
  }

  @Test
  void a_terminal_that_stops_or_closes_does_not_end_the_cdk() throws Exception {
    Process cdk = start("echo ready; read line; exit 5");
    try (BufferedReader out = cdk.inputReader(UTF_8)) {
      assertThat(out.readLine()).isEqualTo("ready");
      signal("INT", cdk.pid());
      signal("HUP", cdk.pid());
      cdk.getOutputStream().close();

      assertThat(cdk.waitFor()).isEqualTo(5);
    }
  }

  @Test
  void the_session_ends_with_the_process_that_started_it() throws Exception {
    Process cdk = start("echo $$; exec sleep 600");
    try (BufferedReader out = cdk.inputReader(UTF_8)) {
      long child = Long.parseLong(out.readLine());
      cdk.destroy();

      assertThat(cdk.waitFor()).isNotZero();
      assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
    }
  }

  @Test
  void a_command_that_does_not_exist_is_named() throws Exception {
    Process cdk = new ProcessBuilder(CdkStacks.detached(List.of("no-such-command"))).start();
    try (BufferedReader err = cdk.errorReader(UTF_8)) {
      assertThat(err.readLine()).contains("no-such-command");
      assertThat(cdk.waitFor()).isEqualTo(127);
    }
  }
}
