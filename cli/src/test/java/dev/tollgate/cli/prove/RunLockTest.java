package dev.tollgate.cli.prove;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.http.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The lock of a run between processes. */
// A read from a process does not end at an interrupt.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class RunLockTest {
  @TempDir private Path directory;

  /** Holds the lock of a directory until the end of the input. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      try (RunLock lock = RunLock.of(Path.of(arguments[0]))) {
        System.out.println("holds " + lock);
        System.in.read();
      }
    }
  }

  @Test
  void the_process_that_holds_the_lock_is_named_until_it_ends() throws Exception {
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                directory.toString())
            .start();
    try (BufferedReader out = holder.inputReader(UTF_8)) {
      assertThat(out.readLine()).startsWith("holds");
      assertThat(refusal()).startsWith("Process " + holder.pid() + " works on the run in ");
    } finally {
      holder.destroyForcibly().waitFor();
    }

    assertThat(refusal()).as("of a process that was killed").isEmpty();
  }

  private String refusal() {
    try (RunLock lock = RunLock.of(directory)) {
      assertThat(lock).isNotNull();
      return "";
    } catch (Failure refused) {
      return refused.reason();
    }
  }
}
