package dev.tollgate.local.lambda.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.testing.HandlerJar;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(value = OS.LINUX, disabledReason = "AWS's runtime interface client has native code")
class LambdaRuntimeTest {
  private static final AccessKey KEY = new AccessKey("ASIA", "secret", "token");

  @TempDir private Path directory;
  private Path jar = Path.of("");

  @BeforeEach
  void pack() throws IOException {
    jar = HandlerJar.write(directory.resolve("code.jar"), ProcessHandlers.class);
  }

  private FunctionProcess start(Class<?> handler, boolean snapStart) throws IOException {
    LambdaRuntime runtime =
        new LambdaRuntime(
            directory, new LambdaRuntime.Account("us-east-1", URI.create("http://127.0.0.1:1")));
    return runtime.start(
        Jdk.of("java25"),
        new DeployedFunction(
            "f",
            "arn:aws:lambda:us-east-1:000000000000:function:f",
            "java25",
            handler.getName(),
            "arn:aws:iam::000000000000:role/f",
            256,
            Duration.ofSeconds(10),
            Map.of("TABLE", "t"),
            snapStart,
            jar),
        KEY);
  }

  private static JsonNode answer(InvocationResult result) {
    assertThat(result).isInstanceOf(Success.class);
    return Json.readOrMissing(new String(((Success) result).payload(), StandardCharsets.UTF_8));
  }

  private static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  @Test
  void a_function_has_its_variables_and_those_of_lambda_and_no_others() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.Reporter.class, false)) {
      JsonNode answer = answer(function.invoke("{\"a\":1}"));
      assertThat(answer.path("event")).hasToString("{\"a\":1}");
      assertThat(answer.path("arn").asText()).endsWith(":function:f");
      assertThat(answer.path("remaining").asInt()).isBetween(1, 10_000);
      assertThat(answer.path("java").asInt()).isEqualTo(Jdk.of("java25").version().feature());
      assertThat(answer.path("hooks")).isEmpty();
      assertThat(names(answer.path("environment")))
          .contains("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
          .allMatch(
              name -> name.matches("TABLE|AWS_.*|LAMBDA_.*|_HANDLER|LANG|PATH|TZ|_X_AMZN_.*"));
      assertThat(function.output()).contains("reported");
      assertThat(answer(function.invoke("{}")).path("event")).hasToString("{}");
    }
  }

  @Test
  void a_function_with_snapshots_runs_its_hooks_and_has_no_keys_in_variables() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.Reporter.class, true)) {
      JsonNode answer = answer(function.invoke("{}"));
      assertThat(answer.path("hooks")).hasToString("[\"beforeCheckpoint\",\"afterRestore\"]");
      assertThat(names(answer.path("environment")))
          .contains("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN")
          .doesNotContain("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN");
    }
  }

  @Test
  void an_exception_is_the_error_of_the_invocation() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.Thrower.class, true)) {
      for (int i = 0; i < 2; i++) {
        Failure failure = (Failure) function.invoke("1");
        assertThat(failure.type()).isEqualTo("java.lang.IllegalArgumentException");
        assertThat(failure.message()).isEqualTo("event: 1");
        assertThat(failure.trace()).first().asString().contains("Thrower.handleRequest");
      }
    }
  }

  @Test
  void a_handler_that_the_runtime_cannot_construct_fails_each_invocation() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.WithoutConstructor.class, true)) {
      Failure failure = (Failure) function.invoke("1");
      assertThat(failure.message()).contains("has no public zero-argument constructor");
    }
  }

  @Test
  void an_exception_of_a_constructor_is_the_error_of_the_init_phase() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.Broken.class, true)) {
      assertThat(function.initError().orElseThrow().message()).contains("a variable is missing");
      assertThat(function.invoke("1")).isEqualTo(function.initError().orElseThrow());
    }
  }

  @Test
  void an_exception_of_a_hook_is_the_error_of_the_restore_phase() throws Exception {
    try (FunctionProcess function = start(ProcessHandlers.BrokenByRestore.class, true)) {
      assertThat(function.initError().orElseThrow().type())
          .isEqualTo("com.amazonaws.services.lambda.crac.RestoreException");
      assertThat(function.output()).contains("the connection is stale");
    }
  }
}
