package dev.tollgate.local.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.NotFound;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.InvocationResult.Throttled;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.HandlerJar;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.joda.time.DateTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;

class FunctionHostTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ARN = "arn:aws:lambda:us-east-1:000000000000:function:";
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir static Path directory;
  static Path jar = Path.of("");

  private final Queue<LogLine> log = new ConcurrentLinkedQueue<>();
  private final FunctionHost functions = new FunctionHost(() -> NOW, new AccessKeys(), log::add);

  @BeforeAll
  static void writeJar() throws IOException {
    jar =
        HandlerJar.write(
            directory.resolve("function.jar"),
            SampleHandlers.class,
            SQSEvent.class,
            DateTime.class,
            SdkBytes.class);
  }

  @AfterEach
  void close() {
    functions.close();
  }

  @Test
  void invoke_handler_with_environment_and_clock_gets_both() throws IOException {
    define("Introspector", Duration.ofSeconds(10), OptionalInt.empty());

    JsonNode answer = answer("Introspector", "{\"a\":[1]}");

    assertThat(answer.path("event").toString()).isEqualTo("{\"a\":[1]}");
    assertThat(answer.at("/environment/TABLE").asText()).isEqualTo("t");
    assertThat(answer.path("millis").asLong()).isEqualTo(NOW.toEpochMilli());
    assertThat(answer.path("function").asText()).isEqualTo("Introspector");
    assertThat(answer.path("memory").asInt()).isEqualTo(512);
    assertThat(answer.path("remaining").asInt()).isBetween(1, 10_000);
    assertThat(log)
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.message()).isEqualTo("hello");
              assertThat(line.function()).isEqualTo("Introspector");
              assertThat(line.time()).isEqualTo(NOW);
            });
  }

  @Test
  void function_sees_its_own_jar_and_not_the_hosts_class_path() throws IOException {
    define("Introspector", Duration.ofSeconds(10), OptionalInt.empty());

    JsonNode answer = answer("Introspector", "{}");

    assertThat(answer.path("loader").asText()).isEqualTo("FunctionClassLoader");
    assertThat(answer.path("host").asBoolean()).isFalse();
  }

  @Test
  void functions_of_a_jar_share_the_sdk_in_it_and_nothing_that_its_own_classes_hold()
      throws IOException {
    define("One", "Static", Duration.ofSeconds(10), OptionalInt.empty());
    define("Other", "Static", Duration.ofSeconds(10), OptionalInt.empty());

    JsonNode one = answer("One", "{}");
    JsonNode other = answer("Other", "{}");

    assertThat(List.of(one.get(0).asInt(), other.get(0).asInt())).containsExactly(1, 1);
    assertThat(other.get(1)).isEqualTo(one.get(1));
    assertThat(one.get(1).asInt()).isNotEqualTo(System.identityHashCode(SdkBytes.class));
  }

  @Test
  void invoke_by_name_arn_and_alias_reaches_the_function() throws IOException {
    define("Introspector", Duration.ofSeconds(10), OptionalInt.empty());

    assertThat(answer("Introspector", "{}").path("arn").asText()).isEqualTo(ARN + "Introspector");
    for (String name : List.of(ARN + "Introspector:live", "Introspector:live")) {
      assertThat(answer(name, "{}").path("arn").asText()).isEqualTo(ARN + "Introspector:live");
    }
    assertThat(invoke("Introspector:dead", "{}")).isEqualTo(new NotFound("Introspector:dead"));
    assertThat(invoke("Nobody", "{}")).isInstanceOf(NotFound.class);
  }

  @Test
  void invoke_one_after_the_other_reuses_the_instance() throws IOException {
    define("Sleeper", Duration.ofSeconds(10), OptionalInt.empty());

    assertThat(answer("Sleeper", "0").asInt()).isEqualTo(1);
    assertThat(answer("Sleeper", "0").asInt()).isEqualTo(1);
  }

  @Test
  void invoke_at_the_same_time_uses_an_instance_each() {
    define("Sleeper", Duration.ofSeconds(10), OptionalInt.empty());

    List<CompletableFuture<InvocationResult>> all =
        IntStream.range(0, 5).mapToObj(i -> start("Sleeper", "300")).toList();

    assertThat(all.stream().map(CompletableFuture::join).map(FunctionHostTest::text))
        .containsExactlyInAnyOrder("1", "2", "3", "4", "5");
  }

  @Test
  void quota_of_the_account_throttles_and_the_executions_are_measured() throws Exception {
    define("Sleeper", Duration.ofSeconds(10), OptionalInt.empty());
    Queue<Double> executions = new ConcurrentLinkedQueue<>();
    functions.measure(
        (metric, at, value) -> {
          if (metric.equals(FunctionHost.CONCURRENT_EXECUTIONS)) {
            executions.add(value);
          }
        });
    functions.setQuota(2);
    List<CompletableFuture<InvocationResult>> all =
        IntStream.range(0, 3).mapToObj(i -> start("Sleeper", "300")).toList();

    assertThat(all.get(2).get()).isEqualTo(new Throttled("ConcurrentInvocationLimitExceeded"));
    all.forEach(CompletableFuture::join);
    functions.setQuota(3);
    IntStream.range(0, 3)
        .mapToObj(i -> start("Sleeper", "0"))
        .toList()
        .forEach(CompletableFuture::join);
    assertThat(functions.quota()).isEqualTo(3);
    assertThat(executions).startsWith(1.0, 2.0, 1.0).hasSize(5).allMatch(value -> value <= 3);
  }

  @Test
  void invoke_beyond_reserved_concurrency_is_throttled() {
    define("Sleeper", Duration.ofSeconds(10), OptionalInt.of(2));

    List<CompletableFuture<InvocationResult>> admitted =
        List.of(start("Sleeper", "300"), start("Sleeper", "300"));

    assertThat(invoke("Sleeper", "0"))
        .isEqualTo(new Throttled("ReservedFunctionConcurrentInvocationLimitExceeded"));
    assertThat(admitted).allSatisfy(one -> assertThat(one.join()).isInstanceOf(Success.class));
    assertThat(invoke("Sleeper", "0")).isInstanceOf(Success.class);
  }

  @Test
  void invoke_of_a_throttled_function_is_refused_until_that_ends() {
    define("Sleeper", Duration.ofSeconds(10), OptionalInt.empty());
    functions.throttle("Sleeper", true);

    assertThat(invoke("Sleeper", "0"))
        .isEqualTo(new Throttled("ConcurrentInvocationLimitExceeded"));

    functions.throttle("Sleeper", false);
    assertThat(invoke("Sleeper", "0")).isInstanceOf(Success.class);
  }

  @Test
  void what_a_thread_of_a_function_logs_is_the_functions() {
    define("Threaded", Duration.ofSeconds(10), OptionalInt.empty());
    define("Another", "Threaded", Duration.ofSeconds(10), OptionalInt.empty());
    invoke("Threaded", "{}");
    invoke("Another", "{}");

    assertThat(log)
        .containsExactly(
            new LogLine(NOW, "Threaded", "", "from a thread"),
            new LogLine(NOW, "Another", "", "from a thread"));
  }

  @Test
  void define_that_reserves_what_belongs_to_all_is_refused() {
    assertThatThrownBy(() -> define("Sleeper", Duration.ofSeconds(1), OptionalInt.of(901)))
        .hasMessage("reservedConcurrency: 901 (expected: to leave 100 unreserved)");
    define("Sleeper", Duration.ofSeconds(1), OptionalInt.of(900));
  }

  @Test
  void invoke_that_takes_too_long_times_out_and_loses_its_instance() throws IOException {
    define("Sleeper", Duration.ofMillis(250), OptionalInt.of(1));

    InvocationResult invocation = invoke("Sleeper", "60000");

    assertThat(invocation).isInstanceOf(Failure.class);
    Failure timedOut = (Failure) invocation;
    assertThat(timedOut.type()).isEqualTo("Sandbox.Timedout");
    assertThat(timedOut.message()).endsWith("Error: Task timed out after 0.25 seconds");
    assertThat(JSON.readTree(timedOut.payload()).path("errorType").asText())
        .isEqualTo("Sandbox.Timedout");
    assertThat(log).anyMatch(line -> line.message().contains("Task timed out"));
    assertThat(answer("Sleeper", "0").asInt()).isEqualTo(2);
  }

  @Test
  void invoke_that_ignores_its_interrupt_times_out_all_the_same() {
    define("Stubborn", Duration.ofMillis(100), OptionalInt.of(1));

    assertThat(((Failure) invoke("Stubborn", "{}")).type()).isEqualTo("Sandbox.Timedout");
    assertThat(((Failure) invoke("Stubborn", "{}")).type()).isEqualTo("Sandbox.Timedout");
  }

  @Test
  void invoke_during_which_the_host_is_closed_ends() throws Exception {
    define("Late", Duration.ofSeconds(10), OptionalInt.empty());
    CountDownLatch begun = new CountDownLatch(1);
    System.getProperties().put(SampleHandlers.Late.BEGUN, begun);
    CompletableFuture<InvocationResult> invocation = start("Late", "{}");
    begun.await();

    functions.close();

    assertThat(text(invocation.get(10, TimeUnit.SECONDS))).isEqualTo("\"late\"");
  }

  @Test
  void invoke_of_a_handler_that_throws_is_an_error_as_lambda_tells_it() throws IOException {
    define("Failing", Duration.ofSeconds(10), OptionalInt.empty());

    InvocationResult invocation = invoke("Failing", "\"Unauthorized\"");

    assertThat(invocation).isInstanceOf(Failure.class);
    JsonNode error = JSON.readTree(((Failure) invocation).payload());
    assertThat(error.path("errorMessage").asText()).isEqualTo("Unauthorized");
    assertThat(error.path("errorType").asText()).isEqualTo("java.lang.IllegalArgumentException");
    assertThat(error.path("stackTrace"))
        .isNotEmpty()
        .allSatisfy(
            frame -> assertThat(frame.asText()).contains("SampleHandlers$Failing.handleRequest"));
    assertThat(log).anyMatch(line -> line.message().contains("IllegalArgumentException"));
  }

  @Test
  void invoke_of_a_handler_that_cannot_be_constructed_is_an_error() {
    define("Unborn", Duration.ofSeconds(10), OptionalInt.of(1));

    for (int i = 0; i < 2; i++) {
      assertThat(invoke("Unborn", "{}"))
          .isInstanceOfSatisfying(
              Failure.class, error -> assertThat(error.message()).isEqualTo("TABLE is not set"));
    }
  }

  @Test
  void invoke_of_a_handler_that_does_not_exist_is_an_error() {
    define("Missing", Duration.ofSeconds(10), OptionalInt.empty());

    assertThat(invoke("Missing", "{}"))
        .isInstanceOfSatisfying(
            Failure.class,
            error -> assertThat(error.type()).isEqualTo(ClassNotFoundException.class.getName()));
  }

  @Test
  void invoke_serializes_as_the_runtime_does() throws IOException {
    for (String handler : List.of("Capitals", "Greeter", "Consumer")) {
      define(handler, Duration.ofSeconds(10), OptionalInt.empty());
    }

    assertThat(text(invoke("Capitals", "\"ab\""))).isEqualTo("\"AB\"");
    assertThat(text(invoke("Greeter", "{\"name\":\"Ann\"}"))).isEqualTo("{\"name\":\"Dear Ann\"}");
    String event =
        "{\"Records\":[{\"messageId\":\"1\",\"body\":\"hi\",\"eventSourceARN\":\"arn:q\"}]}";
    assertThat(text(invoke("Consumer", event))).isEqualTo("[\"hi from arn:q\"]");
  }

  @Test
  void catalog_refuses_a_second_function_of_the_same_name() {
    FunctionCatalog catalog =
        new FunctionCatalog(
            functions,
            Environment.of("App", () -> NOW),
            new FunctionCatalog.Account(
                Map.of(),
                () -> "",
                role -> true,
                (bucket, key) -> Optional.empty(),
                name -> Duration.ZERO),
            Optional.empty());
    ObjectNode settings = Json.object().put("Handler", "Failing").put("Role", "role");
    FunctionSettings.complete(settings, "Failing");
    catalog.add("Failing", settings, jar, OptionalInt.empty());

    assertThatThrownBy(() -> catalog.add("Failing", settings, jar, OptionalInt.empty()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("defined already");
  }

  private void define(String handler, Duration timeout, OptionalInt reserved) {
    define(handler, handler, timeout, reserved);
  }

  private void define(String name, String handler, Duration timeout, OptionalInt reserved) {
    functions.put(
        new FunctionSpec(
            name,
            List.of(ARN + name, ARN + name + ":live"),
            jar,
            "java25",
            SampleHandlers.class.getName() + "$" + handler,
            "arn:aws:iam::000000000000:role/sample",
            Map.of("TABLE", "t"),
            timeout,
            512,
            reserved));
  }

  private CompletableFuture<InvocationResult> start(String function, String event) {
    return functions.start(function, event.getBytes(StandardCharsets.UTF_8));
  }

  private InvocationResult invoke(String function, String event) {
    return functions.invoke(function, event.getBytes(StandardCharsets.UTF_8));
  }

  private JsonNode answer(String function, String event) throws IOException {
    return JSON.readTree(text(invoke(function, event)));
  }

  private static String text(InvocationResult invocation) {
    assertThat(invocation).isInstanceOf(Success.class);
    return new String(((Success) invocation).payload(), StandardCharsets.UTF_8);
  }
}
