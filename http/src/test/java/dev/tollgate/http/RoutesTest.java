package dev.tollgate.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoutesTest {
  private static final String ROUTE = "POST /things/{thing}";

  private final RecordingContext context = new RecordingContext(Duration.ofSeconds(29));
  private final Routes echo =
      Routes.forOperators(
          Map.of(
              ROUTE,
              request ->
                  Response.json(
                      201,
                      Map.of("read", request.body().text("a", "a text") + request.path("thing")))));

  @Test
  void a_request_is_answered_by_its_route() {
    APIGatewayV2HTTPResponse response = echo.answer(event("{\"a\":\"x\"}"), context);

    assertThat(response.getStatusCode()).isEqualTo(201);
    assertThat(response.getHeaders())
        .containsEntry("content-type", "application/json")
        .containsEntry("cache-control", "no-store")
        .containsEntry("x-content-type-options", "nosniff");
    assertThat(response.getBody()).isEqualTo("{\"read\":\"x1\"}");
  }

  @Test
  void an_unknown_route_is_not_found() {
    APIGatewayV2HTTPResponse response = echo.answer(HttpApiEvents.of("GET /else"), context);

    assertThat(response.getStatusCode()).isEqualTo(404);
    assertThat(response.getHeaders()).containsEntry("content-type", "application/problem+json");
  }

  /** Requests that pages of other sites can send without a preflight request. */
  @ParameterizedTest
  @CsvSource({
    "POST /repairs, text/plain, '', 415",
    "POST /repairs, text/plain, '{}', 415",
    "POST /repairs, application/x-www-form-urlencoded, a=b, 415",
    "POST /repairs, multipart/form-data; boundary=x, '', 415",
    "POST /repairs, application/json, '', 200",
    "POST /repairs, , '{}', 415",
    "POST /repairs, , '', 200",
    "PUT /things, text/plain, '', 200",
  })
  void a_post_of_another_media_type_is_refused_before_its_route(
      String route, String mediaType, String body, int status) {
    Routes unread =
        Routes.forOperators(
            Map.of(
                "POST /repairs", request -> Response.json(200, Map.of()),
                "PUT /things", request -> Response.json(200, Map.of())));
    APIGatewayV2HTTPEvent event = HttpApiEvents.of(route);
    event.setBody(body);
    event.setHeaders(mediaType == null ? Map.of() : Map.of("content-type", mediaType));

    assertThat(unread.answer(event, context).getStatusCode()).isEqualTo(status);
  }

  @Test
  void an_invalid_value_is_a_400_that_names_it() {
    APIGatewayV2HTTPResponse response = echo.answer(event("{\"a\":7}"), context);

    assertThat(response.getStatusCode()).isEqualTo(400);
    assertThat(response.getBody())
        .isEqualTo(
            """
            {"type":"urn:tollgate:problem:invalid-value","title":"A value is not valid","status":400,\
            "detail":"a: 7 (expected: a text)",\
            "errors":[{"field":"a","value":"7","expected":"a text"}],"instance":"cCLsRg3_oAMESBw="}""");
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, 201",
    "Application/JSON; Charset=UTF-8, 201",
    "application/json;charset=latin1, 415",
    "application/jsonp, 415",
    "text/plain, 415",
    "'', 415",
  })
  void a_body_of_another_media_type_is_a_415(String mediaType, int status) {
    APIGatewayV2HTTPEvent event = event("{\"a\":\"x\"}");
    event.getHeaders().put("content-type", mediaType);

    assertThat(echo.answer(event, context).getStatusCode()).isEqualTo(status);
  }

  @Test
  void a_body_without_media_type_is_a_415() {
    APIGatewayV2HTTPEvent event = event("{\"a\":\"x\"}");
    event.getHeaders().remove("content-type");

    assertThat(echo.answer(event, context).getStatusCode()).isEqualTo(415);
  }

  @Test
  void a_missing_body_is_a_400() {
    APIGatewayV2HTTPEvent event = event("");
    event.setBody(null);

    assertThat(echo.answer(event, context).getStatusCode()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({"65536, 201", "65537, 413"})
  void a_body_larger_than_64_kb_is_a_413(int bytes, int status) {
    String body = "{\"a\":\"" + "ü" + "x".repeat(bytes - 10) + "\"}";
    assertThat(body.getBytes(StandardCharsets.UTF_8)).hasSize(bytes);

    assertThat(echo.answer(event(body), context).getStatusCode()).isEqualTo(status);
  }

  @Test
  void a_body_in_base64_is_decoded() {
    APIGatewayV2HTTPEvent event = event(base64("{\"a\":\"ü\"}".getBytes(StandardCharsets.UTF_8)));
    event.setIsBase64Encoded(true);

    assertThat(echo.answer(event, context).getBody()).isEqualTo("{\"read\":\"ü1\"}");
  }

  @Test
  void a_body_that_is_not_utf_8_is_a_400() {
    APIGatewayV2HTTPEvent event =
        event(base64("{\"a\":\"ü\"}".getBytes(StandardCharsets.ISO_8859_1)));
    event.setIsBase64Encoded(true);

    assertThat(echo.answer(event, context).getStatusCode()).isEqualTo(400);
  }

  @Test
  void an_unavailable_service_is_a_503_with_retry_after() {
    APIGatewayV2HTTPResponse response =
        failing(new Unavailable("PutItem arn:aws:secret: timed out"));

    assertThat(response.getStatusCode()).isEqualTo(503);
    assertThat(response.getHeaders()).containsEntry("retry-after", "1");
    assertThat(response.getBody()).doesNotContain("PutItem");
    assertThat(context.logged()).singleElement().asString().contains("PutItem");
  }

  @Test
  void an_unexpected_exception_is_logged_and_hidden_from_the_caller() {
    APIGatewayV2HTTPResponse response = failing(new IllegalStateException("internals"));

    assertThat(response.getStatusCode()).isEqualTo(500);
    assertThat(response.getBody()).doesNotContain("internals");
    assertThat(context.logged()).singleElement().asString().contains("internals");
  }

  @Test
  void an_invalid_value_of_a_route_is_a_400() {
    assertThat(failing(new InvalidValue("b", 1, "2")).getStatusCode()).isEqualTo(400);
  }

  @Test
  void an_unreadable_row_is_named_to_operators_only() {
    UnreadableRow row = new UnreadableRow("tenant", "acme", "version: none");

    assertThat(failing(row).getBody()).contains("the row of tenant acme cannot be read");
    APIGatewayV2HTTPResponse response =
        Routes.forClients(throwing(row)).answer(event("{}"), context);
    assertThat(response.getStatusCode()).isEqualTo(500);
    assertThat(response.getBody()).doesNotContain("row", "version");
    assertThat(context.logged()).anyMatch(line -> line.contains("the row of tenant acme"));
  }

  private APIGatewayV2HTTPResponse failing(RuntimeException thrown) {
    return Routes.forOperators(throwing(thrown)).answer(event("{}"), context);
  }

  private static Map<String, Routes.Route> throwing(RuntimeException thrown) {
    return Map.of(
        ROUTE,
        request -> {
          throw thrown;
        });
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static APIGatewayV2HTTPEvent event(String body) {
    return HttpApiEvents.of(ROUTE, Map.of("thing", "1"), body);
  }
}
