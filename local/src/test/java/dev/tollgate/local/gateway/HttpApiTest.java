package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.RSAKey;
import dev.tollgate.local.gateway.jwt.IssuerKeys;
import dev.tollgate.local.gateway.jwt.JwtAuthorizer;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import dev.tollgate.local.testing.TokenIssuer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpApiTest {

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-12T19:03:58.390Z"));
  private final ScriptedFunctions functions = new ScriptedFunctions();
  private final Queue<String> log = new ConcurrentLinkedQueue<>();
  private final Gateway gateway =
      new Gateway(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          AllowedHosts.LOCAL,
          functions,
          NoServices.INSTANCE,
          Environment.of("App", clock),
          handler -> handler,
          log::add);
  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeEach
  void addApi() {
    gateway.addHttpApi(
        "http1",
        List.of(
            route("GET /tenants/{tenantId}", "get"),
            route("GET /tenants/mine", "mine"),
            route("ANY /tenants/{tenantId}", "any"),
            route("POST /tenants", "post"),
            route("GET /files/{path+}", "files"),
            new HttpRoute(
                "GET /signed",
                ScriptedFunctions.integration("signed"),
                HttpRoute.Authorizer.iam("000000000000"))),
        RouteLimits.NONE,
        Optional.of(
            new Cors(
                List.of("https://app.example"),
                List.of("GET", "PUT"),
                List.of("content-type"),
                List.of("retry-after"),
                OptionalInt.of(300),
                false)));
    for (String function : List.of("get", "mine", "any", "post", "files", "signed")) {
      functions.define(function, "{\"statusCode\":200,\"body\":\"" + function + "\"}");
    }
  }

  @AfterEach
  void close() {
    gateway.close();
    functions.close();
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /tenants/acme, get",
    "GET, /tenants/mine, mine",
    "PATCH, /tenants/acme, any",
    "POST, /tenants, post",
    "GET, /files/a/b/c, files",
  })
  void request_takes_the_most_specific_route(String method, String path, String function)
      throws Exception {
    assertThat(send(request(path).method(method, BodyPublishers.noBody())).body())
        .isEqualTo(function);
  }

  @ParameterizedTest
  @CsvSource({"GET, /tenants", "GET, /", "GET, ''", "GET, /tenants/a/b", "GET, /tenants/"})
  void request_without_a_route_is_not_found(String method, String path) throws Exception {
    HttpResponse<String> response = send(request(path).method(method, BodyPublishers.noBody()));

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).isEqualTo("{\"message\":\"Not Found\"}");
  }

  /** The client adds other headers, of less than 500 bytes. */
  @ParameterizedTest
  @CsvSource({"9500, 200", "10240, 431"})
  void request_line_and_headers_have_at_most_10240_bytes(int size, int status) throws Exception {
    HttpResponse<String> inHeader =
        send(request("/tenants/acme").header("Authorization", "x".repeat(size)));
    HttpResponse<String> inLine = send(request("/tenants/acme?q=" + "x".repeat(size)));

    assertThat(inHeader.statusCode()).isEqualTo(status);
    assertThat(inLine.statusCode()).isEqualTo(status);
    if (status == 431) {
      assertThat(inHeader.body()).isEqualTo("{\"message\":\"Request Header Fields Too Large\"}");
    }
  }

  @Test
  void request_to_an_unknown_api_is_not_found() throws Exception {
    URI uri = gateway.endpoint("http", "http1").resolve("/other/tenants");

    assertThat(send(HttpRequest.newBuilder(uri)).statusCode()).isEqualTo(404);
  }

  @Test
  void default_route_takes_what_no_other_takes() throws Exception {
    gateway.addHttpApi(
        "http2",
        List.of(route("$default", "rest"), route("GET /a", "a")),
        RouteLimits.NONE,
        Optional.empty());
    functions.define("rest", "{\"statusCode\":200,\"body\":\"rest\"}");
    functions.define("a", "{\"statusCode\":200,\"body\":\"a\"}");

    URI endpoint = gateway.endpoint("http", "http2");
    assertThat(send(HttpRequest.newBuilder(URI.create(endpoint + "/a"))).body()).isEqualTo("a");
    assertThat(send(HttpRequest.newBuilder(URI.create(endpoint + "/b/c"))).body())
        .isEqualTo("rest");
    assertThat(send(HttpRequest.newBuilder(endpoint)).body()).isEqualTo("rest");
    assertThat(functions.events("rest").get(0).path("routeKey").asText()).isEqualTo("$default");
    assertThat(functions.events("rest").get(0).has("pathParameters")).isFalse();
  }

  @Test
  void event_is_of_payload_format_2_0() throws Exception {
    send(
        request("/tenants/a%20b+c?x=1&x=2&y=%C3%BC+z")
            .header("X-Thing", "one")
            .header("X-Thing", "two")
            .header("Cookie", "k=v; l=w")
            .header("User-Agent", "test"));

    JsonNode event = functions.events("get").get(0);
    assertThat(event.path("version").asText()).isEqualTo("2.0");
    assertThat(event.path("routeKey").asText()).isEqualTo("GET /tenants/{tenantId}");
    assertThat(event.path("rawPath").asText()).isEqualTo("/tenants/a b+c");
    assertThat(event.path("rawQueryString").asText()).isEqualTo("x=1&x=2&y=%C3%BC+z");
    assertThat(event.path("queryStringParameters").toString())
        .isEqualTo("{\"x\":\"1,2\",\"y\":\"ü z\"}");
    assertThat(event.path("pathParameters").toString()).isEqualTo("{\"tenantId\":\"a b+c\"}");
    assertThat(event.path("cookies").toString()).isEqualTo("[\"k=v\",\"l=w\"]");
    assertThat(event.path("headers").path("x-thing").asText()).isEqualTo("one,two");
    assertThat(event.path("headers").has("cookie")).isFalse();
    assertThat(event.path("headers").path("x-forwarded-for").asText()).isEqualTo("127.0.0.1");
    assertThat(event.has("body")).isFalse();
    assertThat(event.path("isBase64Encoded").asBoolean()).isFalse();

    JsonNode context = event.path("requestContext");
    assertThat(context.path("accountId").asText()).isEqualTo("000000000000");
    assertThat(context.path("apiId").asText()).isEqualTo("http1");
    assertThat(context.path("stage").asText()).isEqualTo("$default");
    assertThat(context.path("time").asText()).isEqualTo("12/Mar/2026:19:03:58 +0000");
    assertThat(context.path("timeEpoch").asLong()).isEqualTo(1773342238390L);
    assertThat(context.path("requestId").asText()).hasSize(16);
    assertThat(context.path("domainPrefix").asText()).isEqualTo("http1");
    assertThat(context.path("http").toString())
        .isEqualTo(
            "{\"method\":\"GET\",\"path\":\"/tenants/a b+c\",\"protocol\":\"HTTP/1.1\","
                + "\"sourceIp\":\"127.0.0.1\",\"userAgent\":\"test\"}");
    assertThat(context.has("authorizer")).isFalse();
  }

  /** The paths and their forms in events are those of {@link HttpApi}'s source. */
  @ParameterizedTest
  @CsvSource({
    "plain, plain",
    "space%20value, space value",
    "question%3Fvalue, question",
    "hash%23value, hash#value",
    "slash%2Fvalue, slash/value",
    "unicode-%CE%BB-%E4%B8%96%E7%95%8C, unicode-λ-世界",
    "literal%252Fvalue, literal/value",
    "literal%253Fvalue, literal?value",
    "literal%2525value, literal%value",
    "a+b%2Bc, a+b+c",
    "not-utf-8-%FF, not-utf-8-\uFFFD",
  })
  void path_of_an_event_is_decoded_twice(String sent, String received) throws Exception {
    assertThat(send(request("/files/" + sent + "?x=a%3Fb%25c")).statusCode()).isEqualTo(200);

    JsonNode event = functions.events("files").get(0);
    assertThat(event.path("rawPath").asText()).isEqualTo("/files/" + received);
    assertThat(event.at("/requestContext/http/path")).isEqualTo(event.path("rawPath"));
    assertThat(event.at("/pathParameters/path").asText()).isEqualTo(received);
    assertThat(event.path("rawQueryString").asText()).isEqualTo("x=a%3Fb%25c");
    assertThat(event.at("/queryStringParameters/x").asText()).isEqualTo("a?b%c");
  }

  @Test
  void encoded_slash_separates_segments_and_one_encoded_twice_does_not() throws Exception {
    assertThat(send(request("/tenants/a%2Fb")).statusCode()).isEqualTo(404);
    assertThat(send(request("/files%2Fa")).body()).isEqualTo("files");
    assertThat(send(request("/tenants/a%252Fb")).body()).isEqualTo("get");
    assertThat(functions.events("get").get(0).at("/pathParameters/tenantId").asText())
        .isEqualTo("a/b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/tenants/percent%25done", "/tenants/a%25", "/tenants/%252"})
  void path_that_is_malformed_once_decoded_is_a_bad_request(String path) throws Exception {
    HttpResponse<String> response = send(request(path));

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).isEqualTo("{\"message\":\"Bad Request\"}");
    assertThat(functions.events("get")).isEmpty();
  }

  @Test
  void event_of_a_signed_route_names_the_caller() throws Exception {
    send(request("/signed"));

    assertThat(functions.events("signed").get(0).at("/requestContext/authorizer/iam/userArn"))
        .hasToString("\"arn:aws:iam::000000000000:root\"");
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, false",
    "application/problem+json; charset=utf-8, false",
    "text/csv, false",
    "application/octet-stream, true",
    "application/x-www-form-urlencoded, true",
  })
  void body_is_base64_unless_it_is_text(String type, boolean encoded) throws Exception {
    send(
        request("/tenants")
            .header("Content-Type", type)
            .POST(BodyPublishers.ofString("{\"ä\":1}")));

    JsonNode event = functions.events("post").get(0);
    assertThat(event.path("isBase64Encoded").asBoolean()).isEqualTo(encoded);
    assertThat(event.path("body").asText()).isEqualTo(encoded ? "eyLDpCI6MX0=" : "{\"ä\":1}");
  }

  @Test
  void body_over_10_mb_is_refused() throws Exception {
    HttpResponse<String> response =
        send(request("/tenants").POST(BodyPublishers.ofByteArray(new byte[10 * 1024 * 1024 + 1])));

    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(functions.events("post")).isEmpty();
    assertThat(
            send(request("/tenants").POST(BodyPublishers.ofByteArray(new byte[10 * 1024 * 1024])))
                .statusCode())
        .isEqualTo(200);
  }

  @Test
  void response_has_status_headers_cookies_and_body() throws Exception {
    functions.define(
        "get",
        """
        {"statusCode":429,"headers":{"Retry-After":7,"content-type":"application/problem+json"},
         "cookies":["a=1; Secure","b=2"],"body":"{\\"é\\":1}"}""");

    HttpResponse<String> response = send(request("/tenants/acme"));

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("retry-after")).hasValue("7");
    assertThat(response.headers().allValues("set-cookie")).containsExactly("a=1; Secure", "b=2");
    assertThat(response.headers().allValues("content-type"))
        .containsExactly("application/problem+json");
    assertThat(response.body()).isEqualTo("{\"é\":1}");
  }

  @Test
  void response_in_base64_is_decoded() throws Exception {
    functions.define("get", "{\"statusCode\":200,\"isBase64Encoded\":true,\"body\":\"AAEC\"}");

    assertThat(client.send(request("/tenants/acme").build(), BodyHandlers.ofByteArray()).body())
        .containsExactly(0, 1, 2);
  }

  @Test
  void response_without_a_body_is_empty() throws Exception {
    functions.define("get", "{\"statusCode\":204}");

    HttpResponse<String> response = send(request("/tenants/acme"));

    assertThat(response.statusCode()).isEqualTo(204);
    assertThat(response.body()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"{\"a\":1}|{\"a\":1}", "\"hello\"|hello", "[1]|[1]", "null|null"})
  void response_without_a_status_is_inferred(String answer, String body) throws Exception {
    functions.define("get", answer);

    HttpResponse<String> response = send(request("/tenants/acme"));

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(response.body()).isEqualTo(body);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "not json",
        "{\"statusCode\":\"abc\"}",
        "{\"statusCode\":1008}",
        "{\"statusCode\":200,\"body\":{}}",
        "{\"statusCode\":200,\"isBase64Encoded\":true,\"body\":\"*\"}",
      })
  void response_that_is_malformed_is_an_error_of_the_server(String answer) throws Exception {
    functions.define("get", answer);

    assertInternalServerError();
  }

  @Test
  void function_that_fails_or_is_throttled_is_an_error_of_the_server() throws Exception {
    for (InvocationResult end :
        List.of(
            ScriptedFunctions.error("no"),
            InvocationResult.Failure.timedOut("1", Duration.ofSeconds(3)),
            new InvocationResult.Throttled("ConcurrentInvocationLimitExceeded"))) {
      functions.define("get", event -> end);
      assertInternalServerError();
    }
    assertThat(log)
        .hasSize(3)
        .first()
        .asString()
        .contains("http1", "GET /tenants/{tenantId}", "no");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /http1/tenants/acme", "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n"})
  void connection_with_unfinished_headers_is_closed(String begun) throws Exception {
    InetSocketAddress address = gateway.address();
    try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));

      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void function_that_takes_too_long_makes_the_service_unavailable() throws Exception {
    CompletableFuture<InvocationResult> never = new CompletableFuture<>();
    functions.define("get", event -> never.join());
    CompletableFuture<HttpResponse<String>> answer =
        client.sendAsync(request("/tenants/acme").build(), BodyHandlers.ofString());
    functions.await("get", 1);

    clock.advance(Duration.ofMinutes(1).minusMillis(1));
    gateway.sweep();
    assertThat(answer).isNotDone();
    clock.advance(Duration.ofMillis(1));
    gateway.sweep();

    HttpResponse<String> response = answer.get(5, TimeUnit.SECONDS);
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).isEqualTo("{\"message\":\"Service Unavailable\"}");
  }

  @Test
  void request_beyond_the_limit_of_its_route_is_throttled() throws Exception {
    gateway.addHttpApi(
        "http4",
        List.of(route("GET /a", "get"), route("GET /b", "get")),
        new RouteLimits(new RateLimit(1, 2), Map.of("GET /b", new RateLimit(1, 1))),
        Optional.of(
            new Cors(List.of("*"), List.of(), List.of(), List.of(), OptionalInt.empty(), false)));
    String url = gateway.endpoint("http", "http4").toString();
    List<Integer> statuses = new ArrayList<>();
    for (String path : List.of("/a", "/b", "/a", "/b", "/a")) {
      statuses.add(send(HttpRequest.newBuilder(URI.create(url + path))).statusCode());
    }
    assertThat(statuses).containsExactly(200, 200, 200, 429, 429);

    HttpResponse<String> throttled =
        send(HttpRequest.newBuilder(URI.create(url + "/a")).header("Origin", "https://a.example"));
    assertThat(throttled.body()).isEqualTo("{\"message\":\"Too Many Requests\"}");
    assertThat(throttled.headers().map()).doesNotContainKey("retry-after");
    assertThat(throttled.headers().firstValue("apigw-requestid")).isPresent();
    assertThat(throttled.headers().firstValue("access-control-allow-origin")).hasValue("*");
    assertThat(functions.events("get")).hasSize(3);

    clock.advance(Duration.ofSeconds(1_000));
    assertThat(send(HttpRequest.newBuilder(URI.create(url + "/a"))).statusCode()).isEqualTo(200);
  }

  private void assertInternalServerError() throws Exception {
    HttpResponse<String> response = send(request("/tenants/acme"));
    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(response.body()).isEqualTo("{\"message\":\"Internal Server Error\"}");
  }

  @Test
  void preflight_is_answered_without_a_function() throws Exception {
    HttpResponse<String> response =
        send(
            request("/tenants/acme")
                .header("Origin", "https://app.example")
                .header("Access-Control-Request-Method", "PUT")
                .method("OPTIONS", BodyPublishers.noBody()));

    assertThat(response.statusCode()).isEqualTo(204);
    assertThat(response.headers().firstValue("access-control-allow-origin"))
        .hasValue("https://app.example");
    assertThat(response.headers().firstValue("access-control-allow-methods")).hasValue("GET,PUT");
    assertThat(response.headers().firstValue("access-control-allow-headers"))
        .hasValue("content-type");
    assertThat(response.headers().firstValue("access-control-max-age")).hasValue("300");
    assertThat(functions.events("any")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /http1/tenants/acme",
    "POST, /http1/tenants",
    "DELETE, /http1/tenants/acme",
    "GET, /other",
    "POST, /ws1/production/@connections/abc=",
  })
  void request_to_another_host_reaches_nothing(String method, String path) throws Exception {
    String answer = raw(method, path, "Host: evil.example:" + gateway.address().getPort());

    assertThat(answer)
        .startsWith("HTTP/1.1 421")
        .contains("application/problem+json", "Host: evil.example:", "--host NAME")
        .containsIgnoringCase("x-content-type-options: nosniff");
    assertThat(functions.events("get")).isEmpty();
    assertThat(functions.events("post")).isEmpty();
    assertThat(functions.events("any")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /http1/tenants, https://evil.example",
    "POST, /http1/tenants, null",
    "DELETE, /http1/tenants/acme, https://evil.example",
    "POST, /ws1/production/@connections/abc=, https://app.example",
  })
  void request_of_another_sites_page_reaches_nothing(String method, String path, String origin)
      throws Exception {
    String host = "Host: 127.0.0.1:" + gateway.address().getPort();

    assertThat(raw(method, path, host + "\r\nOrigin: " + origin)).startsWith("HTTP/1.1 403");
    assertThat(functions.events("post")).isEmpty();
    assertThat(functions.events("any")).isEmpty();
  }

  private String raw(String method, String path, String headers) throws IOException {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), gateway.address().getPort())) {
      String request = method + " " + path + " HTTP/1.1\r\n" + headers;
      socket
          .getOutputStream()
          .write(
              (request
                      + "\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
                      + "Connection: close\r\n\r\n{}")
                  .getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void preflight_of_a_stranger_is_forbidden() throws Exception {
    HttpResponse<String> response =
        send(
            request("/tenants/acme")
                .header("Origin", "https://evil.example")
                .header("Access-Control-Request-Method", "PUT")
                .method("OPTIONS", BodyPublishers.noBody()));

    assertThat(response.statusCode()).isEqualTo(403);
    assertThat(response.headers().firstValue("access-control-allow-origin")).isEmpty();
  }

  @Test
  void response_to_another_origin_has_the_apis_headers_and_not_the_functions() throws Exception {
    functions.define(
        "get",
        "{\"statusCode\":200,\"headers\":{\"Access-Control-Allow-Origin\":\"*\",\"x\":\"y\"}}");

    HttpResponse<String> response =
        send(request("/tenants/acme").header("Origin", "https://app.example"));

    assertThat(response.headers().allValues("access-control-allow-origin"))
        .containsExactly("https://app.example");
    assertThat(response.headers().firstValue("access-control-expose-headers"))
        .hasValue("retry-after");
    assertThat(response.headers().firstValue("x")).hasValue("y");
  }

  @Test
  void response_has_the_time_of_the_local_cloud() throws Exception {
    clock.advance(Duration.ofDays(40));
    assertThat(send(request("/tenants/acme")).headers().firstValue("date"))
        .hasValue("Tue, 21 Apr 2026 19:03:58 GMT");
  }

  @Test
  void cors_allows_wildcards_of_a_scheme() {
    Cors cors =
        new Cors(List.of("https://*"), List.of(), List.of(), List.of(), OptionalInt.empty(), false);

    assertThat(cors.allows("https://a.b")).isTrue();
    assertThat(cors.allows("http://a.b")).isFalse();
  }

  @Test
  void a_route_that_takes_tokens_refuses_who_has_none_and_tells_the_function_of_who_has()
      throws Exception {
    Instant now = Instant.parse("2026-03-12T19:03:58.390Z");
    RSAKey key = TokenIssuer.key("one");
    try (TokenIssuer issuer = new TokenIssuer(() -> now)) {
      issuer.publish(key);
      IssuerKeys keys =
          new IssuerKeys("https://i.example", Optional.of(issuer.keySet()), () -> now);
      JwtAuthorizer authorizer =
          new JwtAuthorizer("https://i.example", List.of("a"), keys, () -> now);
      gateway.addHttpApi(
          "http3",
          List.of(
              new HttpRoute(
                  "GET /open",
                  ScriptedFunctions.integration("get"),
                  header -> authorizer.decide(header, List.of())),
              new HttpRoute(
                  "GET /scoped",
                  ScriptedFunctions.integration("get"),
                  header -> authorizer.decide(header, List.of("s")))),
          RouteLimits.NONE,
          Optional.empty());
      String url = gateway.endpoint("http", "http3").toString();

      HttpResponse<String> without = send(HttpRequest.newBuilder(URI.create(url + "/open")));
      assertThat(without.statusCode()).isEqualTo(401);
      assertThat(without.body()).isEqualTo("{\"message\":\"Unauthorized\"}");
      assertThat(without.headers().firstValue("www-authenticate")).contains("Bearer");
      assertThat(without.headers().firstValue("apigw-requestid")).isPresent();
      assertThat(functions.events("get")).isEmpty();

      String token =
          TokenIssuer.token(key, issuer.claims("https://i.example", "a").claim("tenantId", "acme"));
      assertThat(
              send(HttpRequest.newBuilder(URI.create(url + "/open"))
                      .header("authorization", "Bearer " + token))
                  .statusCode())
          .isEqualTo(200);
      JsonNode jwt = functions.events("get").get(0).at("/requestContext/authorizer/jwt");
      assertThat(jwt.at("/claims/tenantId").asText()).isEqualTo("acme");

      HttpResponse<String> unscoped =
          send(HttpRequest.newBuilder(URI.create(url + "/scoped")).header("authorization", token));
      assertThat(unscoped.statusCode()).isEqualTo(403);
      assertThat(unscoped.body()).isEqualTo("{\"message\":\"Forbidden\"}");
      assertThat(functions.events("get")).hasSize(1);
    }
  }

  @Test
  void add_twice_is_refused() {
    assertThatThrownBy(
            () -> gateway.addHttpApi("http1", List.of(), RouteLimits.NONE, Optional.empty()))
        .hasMessage("apiId: http1 (expected: [A-Za-z0-9-]+, not yet taken)");
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(gateway.endpoint("http", "http1") + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private static HttpRoute route(String routeKey, String function) {
    return new HttpRoute(
        routeKey, ScriptedFunctions.integration(function), HttpRoute.Authorizer.NONE);
  }
}
