package dev.tollgate.local.lambda.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes that never ask for an event. */
@Timeout(15)
final class RuntimeProcessTest {
  private final BlockingQueue<String> log = new LinkedBlockingQueue<>();

  private RuntimeProcess start(String script, Duration limit) throws Exception {
    return new RuntimeProcess(List.of("/bin/sh", "-c", script), Map.of(), log::add, limit);
  }

  @Test
  void an_init_that_hangs_is_ended_with_its_process() throws Exception {
    assertThatThrownBy(() -> start("echo $$; exec sleep 600", Duration.ofMillis(500)))
        .asInstanceOf(InstanceOfAssertFactories.type(FunctionError.class))
        .extracting(FunctionError::type)
        .isEqualTo("Sandbox.Timedout");

    var process = ProcessHandle.of(Long.parseLong(log.take()));
    if (process.isPresent()) {
      process.get().onExit().get();
    }
  }

  @Test
  void an_exit_is_noticed_while_a_child_process_keeps_the_output_open() throws Exception {
    try {
      assertThatThrownBy(() -> start("sleep 600 & echo $!; exit 3", Duration.ofMinutes(10)))
          .isInstanceOf(FunctionError.class)
          .hasMessageContaining("exit status 3");
    } finally {
      ProcessHandle.of(Long.parseLong(log.poll(10, TimeUnit.SECONDS)))
          .ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void an_invalid_environment_variable_leaves_no_server_behind() {
    Set<Thread> before = Thread.getAllStackTraces().keySet();

    assertThatThrownBy(
            () ->
                new RuntimeProcess(
                    List.of("/bin/true"), Map.of("A", "\0"), log::add, Duration.ofSeconds(10)))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(thread -> !before.contains(thread))
        .extracting(Thread::getName)
        .noneMatch(name -> name.contains("Dispatcher") || name.startsWith("lambda-runtime"));
  }
}
