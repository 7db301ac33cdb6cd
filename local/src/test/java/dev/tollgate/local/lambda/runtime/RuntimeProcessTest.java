package dev.tollgate.local.lambda.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes that never ask for an event, or misuse the Runtime API. */
@Timeout(15)
final class RuntimeProcessTest {
  private static final InvocationContext CONTEXT =
      new InvocationContext(
          new FunctionSpec(
              "f",
              List.of(),
              Path.of("f"),
              "nodejs20.x",
              "index.handler",
              "arn:aws:iam::000000000000:role/f",
              Map.of(),
              Duration.ofSeconds(10),
              256,
              OptionalInt.empty()),
          "arn:aws:lambda:us-east-1:000000000000:function:f",
          "8e03978e-40d5-43dd-bc93-6894a57f9324",
          Optional.empty(),
          0,
          line -> {});

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

  /** Answers with as many bytes as the event asks for. */
  private static final String ANSWERING =
      """
      const call = (method, name, body) => new Promise((resolve) =>
        require('http').request(
          `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation/${name}`,
          {method}, async (answer) => resolve([answer.headers, (await answer.toArray()).join('')]))
        .end(body));
      (async () => {
        for (;;) {
          const [headers, size] = await call('GET', 'next');
          const id = headers['lambda-runtime-aws-request-id'];
          await call('POST', id + '/response', 'x'.repeat(Number(size)));
        }
      })();""";

  private static byte[] answer(RuntimeProcess process, int size) throws Exception {
    return process.handle(Integer.toString(size).getBytes(UTF_8), CONTEXT);
  }

  @Test
  void an_answer_that_is_too_long_is_counted_and_not_kept() throws Exception {
    try (var process =
        new RuntimeProcess(
            List.of("node", "-e", ANSWERING),
            Map.of("PATH", System.getenv("PATH")),
            log::add,
            Duration.ofSeconds(10))) {
      int most = ExecutionEnvironment.MAX_PAYLOAD_BYTES;
      assertThat(answer(process, most)).hasSize(most);

      assertThatThrownBy(() -> answer(process, 20_000_000))
          .isInstanceOf(FunctionError.class)
          .hasMessageContaining("(20000000 bytes)");
    }
  }
}
