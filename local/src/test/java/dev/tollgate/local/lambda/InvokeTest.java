package dev.tollgate.local.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.json.Json;
import dev.tollgate.local.testing.Calls;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InvokeTest {
  private final ExecutorService workers = Executors.newCachedThreadPool();
  private Invoker functions = (function, payload) -> new CompletableFuture<>();
  private final AsyncInvocations asynchronous =
      new AsyncInvocations(
          (function, payload) -> functions.start(function, payload),
          function ->
              function.equals("hello")
                  ? Optional.of(Json.object().put("FunctionArn", function))
                  : Optional.empty(),
          (name, role) -> {
            throw new IllegalStateException("no service");
          },
          InstantSource.system(),
          line -> {});
  private final HttpHandler api =
      new LambdaApi(
          (function, payload) -> functions.start(function, payload),
          asynchronous,
          workers,
          name -> {},
          Map.of());
  private final Undertow server =
      Undertow.builder()
          .addHttpListener(0, "127.0.0.1")
          .setHandler(
              exchange ->
                  Calls.of(
                          exchange.getRequestPath().endsWith("/invocations")
                              ? "Invoke"
                              : "GetFunction",
                          api)
                      .handleRequest(exchange))
          .build();

  InvokeTest() {
    server.start();
  }

  @AfterEach
  void close() {
    server.stop();
    asynchronous.close();
    workers.shutdownNow();
  }

  @Test
  void invoke_returns_the_functions_answer() throws Exception {
    functions =
        (function, payload) ->
            ended(success(function + " " + new String(payload, StandardCharsets.UTF_8)));

    assertThat(invoke("hello", "").body()).isEqualTo("hello {}");
    assertThat(invoke("hello%3Alive", "").body()).isEqualTo("hello:live {}");
    assertThat(invoke("hello", "?Qualifier=2").body()).isEqualTo("hello:2 {}");
    assertThat(invoke("hello", "").headers().firstValue("X-Amz-Function-Error")).isEmpty();
  }

  @Test
  void invoke_of_a_function_that_fails_says_so_in_a_header() throws Exception {
    for (InvocationResult end :
        List.of(
            new InvocationResult.Failure("E", "no", List.of()),
            InvocationResult.Failure.timedOut("1", Duration.ofSeconds(3)))) {
      functions = (function, payload) -> ended(end);

      HttpResponse<String> response = invoke("hello", "");

      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.headers().firstValue("X-Amz-Function-Error")).hasValue("Unhandled");
      assertThat(response.body()).startsWith("{\"errorMessage\":");
    }
  }

  @Test
  void invoke_that_lambda_refuses_has_its_error() throws Exception {
    functions = (function, payload) -> ended(new InvocationResult.NotFound(function));
    assertError(invoke("hello", ""), 404, "ResourceNotFoundException");

    functions =
        (function, payload) ->
            ended(
                new InvocationResult.Throttled(
                    "ReservedFunctionConcurrentInvocationLimitExceeded"));
    HttpResponse<String> throttled = invoke("hello", "");
    assertError(throttled, 429, "TooManyRequestsException");
    assertThat(throttled.body()).contains("ReservedFunctionConcurrentInvocationLimitExceeded");
  }

  @Test
  void invoke_of_type_event_does_not_wait() throws Exception {
    functions = (function, payload) -> new CompletableFuture<>();

    HttpResponse<String> response = invoke("hello", "", "Event");

    assertThat(response.statusCode()).isEqualTo(202);
    assertThat(response.body()).isEmpty();
    assertError(invoke("nobody", "", "Event"), 404, "ResourceNotFoundException");
  }

  @Test
  void event_that_is_throttled_is_accepted() throws Exception {
    functions = (function, payload) -> ended(new InvocationResult.Throttled("too many"));

    assertThat(invoke("hello", "", "Event").statusCode()).isEqualTo(202);
  }

  @Test
  void event_with_more_than_1_mb_is_too_large() throws Exception {
    HttpResponse<String> response =
        send(
            request("/2015-03-31/functions/hello/invocations")
                .header("X-Amz-Invocation-Type", "Event")
                .POST(BodyPublishers.ofByteArray(new byte[1024 * 1024 + 1])));

    assertError(response, 413, "RequestTooLargeException");
  }

  @Test
  void invoke_with_more_than_6_mb_is_too_large() throws Exception {
    HttpResponse<String> response =
        send(
            request("/2015-03-31/functions/hello/invocations")
                .POST(BodyPublishers.ofByteArray(new byte[6 * 1024 * 1024 + 1])));

    assertError(response, 413, "RequestTooLargeException");
  }

  @Test
  void operation_other_than_invoke_is_unknown() throws Exception {
    assertError(send(request("/2015-03-31/functions/hello")), 404, "UnknownOperationException");
  }

  private static void assertError(HttpResponse<String> response, int status, String type) {
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(response.headers().firstValue("x-amzn-ErrorType")).hasValue(type);
  }

  private static InvocationResult success(String answer) {
    return new InvocationResult.Success(answer.getBytes(StandardCharsets.UTF_8));
  }

  private static CompletableFuture<InvocationResult> ended(InvocationResult invocation) {
    return CompletableFuture.completedFuture(invocation);
  }

  private HttpResponse<String> invoke(String function, String query) throws Exception {
    return invoke(function, query, "RequestResponse");
  }

  private HttpResponse<String> invoke(String function, String query, String type) throws Exception {
    return send(
        request("/2015-03-31/functions/" + function + "/invocations" + query)
            .header("X-Amz-Invocation-Type", type)
            .POST(BodyPublishers.ofString("{}")));
  }

  private HttpRequest.Builder request(String path) {
    int port = ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
  }

  private static HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
  }
}
