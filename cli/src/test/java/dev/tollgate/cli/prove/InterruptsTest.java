package dev.tollgate.cli.prove;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.terminal.Shell;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ctrl-C in a process of its own, because the first one ends the JVM. */
// A read from a process does not end at an interrupt.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class InterruptsTest {
  /** Shuts down as {@code prove} does, with a teardown that ends at the end of the input. */
  static final class Stopped {
    private Stopped() {}

    public static void main(String[] arguments) throws InterruptedException {
      Shell shell =
          new Shell(
              System.in,
              new PrintWriter(System.out, true, UTF_8),
              new PrintWriter(System.out, true, UTF_8),
              Path.of(""),
              Optional.empty(),
              Map.of(),
              Optional.empty(),
              System::nanoTime,
              time -> {});
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    ProveCommand.announceStop(shell, Optional.of("--prefix live_"));
                    try {
                      shell.printError("input: " + System.in.read());
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  }));
      shell.printError("ready");
      Thread.currentThread().join();
    }
  }

  @Test
  void a_second_interrupt_says_that_the_teardown_goes_on_and_how_to_end_it() throws Exception {
    Process prove =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Stopped.class.getName())
            .redirectErrorStream(true)
            .start();
    try (BufferedReader out = prove.inputReader(UTF_8)) {
      assertThat(out.readLine()).isEqualTo("ready");
      interrupt(prove);
      assertThat(out.readLine()).startsWith("Stopping. The teardown follows");
      for (int again = 0; again < 2; again++) {
        interrupt(prove);
        assertThat(out.readLine())
            .isEqualTo(
                "The teardown goes on. To end it by force, run `kill -9 %d` in another terminal, and"
                        .formatted(prove.pid())
                    + " later `tollgate prove --prefix live_ --teardown`.");
      }
      prove.getOutputStream().close();
      assertThat(out.readLine()).isEqualTo("input: -1");
      assertThat(prove.waitFor()).isEqualTo(130);
    } finally {
      prove.destroyForcibly();
    }
  }

  private static void interrupt(Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor())
        .isZero();
  }
}
