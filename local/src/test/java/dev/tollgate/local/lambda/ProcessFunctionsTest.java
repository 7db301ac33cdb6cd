package dev.tollgate.local.lambda;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.lambda.runtime.Packages;
import dev.tollgate.local.testing.HandlerJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions that run in processes of their own: in Node, and in Java as any user writes them. */
final class ProcessFunctionsTest {
  private final ConcurrentLinkedQueue<LogLine> log = new ConcurrentLinkedQueue<>();

  @AutoClose
  private final FunctionHost host =
      new FunctionHost(InstantSource.system(), new AccessKeys(), log::add);

  @TempDir private Path directory;

  /** A handler that knows only Lambda. */
  public static final class Plain implements RequestHandler<Map<String, Object>, String> {
    private final String table = System.getenv("TABLE");

    @Override
    public String handleRequest(Map<String, Object> event, Context context) {
      System.out.println("handles " + event.get("name"));
      if (event.get("name").equals("bad")) {
        throw new IllegalArgumentException("planted");
      }
      if (event.get("name").equals("exit")) {
        Runtime.getRuntime().halt(7);
      }
      return "%s %s %s %d %s"
          .formatted(
              event.get("name"),
              table,
              context.getFunctionName(),
              ProcessHandle.current().pid(),
              context.getRemainingTimeInMillis() > 0);
    }
  }

  private void put(String runtime, Path code, String handler, Duration timeout) {
    host.put(
        new FunctionSpec(
            "f",
            List.of("arn:aws:lambda:us-east-1:000000000000:function:f"),
            code,
            runtime,
            handler,
            "arn:aws:iam::000000000000:role/sample",
            Map.of(
                "TABLE", "members",
                "AWS_LAMBDA_FUNCTION_NAME", "f",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            timeout,
            256,
            OptionalInt.empty()));
  }

  private void putNode(String script) throws IOException {
    put("nodejs20.x", Packages.of("index.js", script), "index.handler", Duration.ofSeconds(20));
  }

  private InvocationResult invoke(String event) {
    return host.invoke("f", event.getBytes(UTF_8));
  }

  private String answer(String event) {
    InvocationResult result = invoke(event);
    assertThat(result).isInstanceOf(Success.class);
    return new String(((Success) result).payload(), UTF_8);
  }

  @Test
  void java_has_its_variables_in_the_environment_and_reuses_its_process() throws Exception {
    putJava(Duration.ofSeconds(20));

    String first = answer("{\"name\":\"ann\"}");
    String second = answer("{\"name\":\"bob\"}");

    assertThat(first).matches("\"ann members f \\d+ true\"");
    assertThat(second.replace("bob", "ann")).isEqualTo(first);
    assertThat(first).doesNotContain(" " + ProcessHandle.current().pid() + " ");
    assertThat(log).extracting(LogLine::message).contains("handles ann", "handles bob");
  }

  private void putJava(Duration timeout) throws IOException {
    put(
        "java25",
        HandlerJar.write(directory.resolve("f.jar"), ProcessFunctionsTest.class),
        Plain.class.getName(),
        timeout);
  }

  @Test
  void an_exception_is_the_functions_error_and_its_process_stays() throws Exception {
    putJava(Duration.ofSeconds(20));

    assertThat(invoke("{\"name\":\"bad\"}"))
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> {
              assertThat(failure.type()).isEqualTo("java.lang.IllegalArgumentException");
              assertThat(failure.message()).isEqualTo("planted");
              assertThat(failure.trace().get(0)).contains("Plain.handleRequest");
            });
    assertThat(answer("{\"name\":\"ann\"}")).contains("ann");
  }

  @Test
  void a_process_that_ends_fails_its_invocation_and_the_next_has_another() throws Exception {
    putJava(Duration.ofSeconds(20));

    assertThat(invoke("{\"name\":\"exit\"}"))
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> {
              assertThat(failure.type()).isEqualTo("Runtime.ExitError");
              assertThat(failure.message()).contains("exit status 7");
            });
    assertThat(answer("{\"name\":\"ann\"}")).contains("ann");
  }

  @Test
  void node_functions_are_asynchronous_or_call_back_and_see_event_context_and_variables()
      throws Exception {
    putNode(
        """
        exports.handler = async (event, context) =>
          [event.name, process.env.TABLE, context.functionName, context.getRemainingTimeInMillis() > 0];""");
    assertThat(answer("{\"name\":\"ann\"}")).isEqualTo("[\"ann\",\"members\",\"f\",true]");

    putNode(
        "exports.handler = (event, context, done) => setImmediate(done, null, {n: event.n + 1});");
    assertThat(answer("{\"n\":1}")).isEqualTo("{\"n\":2}");

    putNode("exports.handler = () => {};");
    assertThat(answer("{}")).isEqualTo("null");
  }

  @Test
  void node_modules_in_directories_are_found() throws Exception {
    Files.createDirectories(directory.resolve("src"));
    Files.writeString(
        directory.resolve("src/app.mjs"), "export const on = {connect: async () => 'es'};");
    put("nodejs22.x", Packages.of(directory), "src/app.on.connect", Duration.ofSeconds(20));

    assertThat(answer("{}")).isEqualTo("\"es\"");
  }

  @Test
  void node_errors_are_the_functions_errors() throws Exception {
    putNode("exports.handler = async () => { throw new TypeError('planted'); };");
    assertThat(invoke("{}"))
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> {
              assertThat(failure.type()).isEqualTo("TypeError");
              assertThat(failure.message()).isEqualTo("planted");
              assertThat(failure.trace().get(0)).contains("index.js:1");
            });

    putNode("exports.other = 1;");
    assertThat(invoke("{}"))
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> assertThat(failure.type()).isEqualTo("Runtime.HandlerNotFound"));

    putNode("require('./missing');");
    assertThat(invoke("{}"))
        .isInstanceOfSatisfying(
            Failure.class, failure -> assertThat(failure.message()).contains("missing"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Object.create(null)",
        "Object.assign(new Error('planted'), {stack: undefined})",
        "Object.assign(new Error(), {message: 1n})",
        "{toString() { throw new Error('planted'); }}"
      })
  void node_errors_that_cannot_be_read_are_the_functions_errors_and_its_process_stays(String thrown)
      throws Exception {
    putNode(
        "exports.handler = async (event) => { if (event.bad) throw %s; return process.pid; };"
            .formatted(thrown));
    String process = answer("{}");

    assertThat(invoke("{\"bad\":true}"))
        .isInstanceOfSatisfying(
            Failure.class, failure -> assertThat(failure.type()).isEqualTo("handled"));
    assertThat(answer("{}")).isEqualTo(process);
  }

  @Test
  void a_function_that_takes_too_long_is_ended_with_its_process() throws Exception {
    Path file = directory.resolve("pid");
    put(
        "nodejs20.x",
        Packages.of(
            "index.js",
            "require('fs').writeFileSync('%s', String(process.pid)); exports.handler = () => new Promise(() => setTimeout(() => {}, 600000));"
                .formatted(file)),
        "index.handler",
        Duration.ofMillis(300));

    assertThat(invoke("{}"))
        .isInstanceOfSatisfying(
            Failure.class, failure -> assertThat(failure.type()).isEqualTo("Sandbox.Timedout"));

    ProcessHandle.of(Long.parseLong(Files.readString(file)))
        .ifPresent(process -> process.onExit().join());
  }

  @Test
  void closing_the_host_ends_idle_processes() throws Exception {
    putNode("exports.handler = async () => process.pid;");
    ProcessHandle process = ProcessHandle.of(Long.parseLong(answer("{}"))).orElseThrow();

    host.close();

    process.onExit().join();
    assertThat(process.isAlive()).isFalse();
  }

  @Test
  @Timeout(15)
  void closing_the_host_ends_child_processes() throws Exception {
    putNode(
        """
        const child = require('child_process').spawn('sleep', ['600'], { stdio: 'ignore' });
        exports.handler = async () => child.pid;""");
    ProcessHandle child = ProcessHandle.of(Long.parseLong(answer("{}"))).orElseThrow();

    host.close();

    child.onExit().get();
    assertThat(child.isAlive()).isFalse();
  }

  @Test
  void a_process_that_ends_before_it_asks_for_the_next_event_fails_that_invocation()
      throws Exception {
    putNode(
        """
        const http = require('http');
        const request = http.request;
        exports.handler = async () => {
          http.request = (options, answered) => {
            if (options.path.endsWith('/next')) {
              Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
              process.exit(5);
            }
            return request(options, answered);
          };
          return 'first';
        };""");
    assertThat(answer("{}")).isEqualTo("\"first\"");

    assertThat(invoke("{}"))
        .isInstanceOfSatisfying(
            Failure.class, failure -> assertThat(failure.message()).contains("exit status 5"));
  }
}
