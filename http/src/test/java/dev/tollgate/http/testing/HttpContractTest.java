package dev.tollgate.http.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@link HttpContract} reports undocumented parts of exchanges. */
final class HttpContractTest {
  private final HttpContract contract =
      HttpContract.of(
          """
          paths:
            /things:
              get:
                responses:
                  "204": {description: Nothing.}
            /things/{name}:
              parameters:
                - {name: name, in: path, required: true, schema: {pattern: "^[a-z]+$"}}
              put:
                parameters:
                  - {name: size, in: query, schema: {type: integer, maximum: 9}}
                  - {name: If-Match, in: header, schema: {pattern: "^.[0-9]+.$"}}
                requestBody:
                  content:
                    application/json: {schema: {$ref: "#/components/schemas/Thing"}}
                responses:
                  "200":
                    headers:
                      ETag: {required: true, schema: {pattern: "^.[0-9]+.$"}}
                    content:
                      application/json: {schema: {$ref: "#/components/schemas/Thing"}}
                  "400": {description: Refused.}
          components:
            responses:
              NoRoute:
                content:
                  application/json: {schema: {type: object}}
            schemas:
              Thing:
                type: object
                properties: {colour: {enum: [red, blue]}}
                required: [colour]
                additionalProperties: false
          """);

  private static final String RED = "{\"colour\":\"red\"}";

  private static Exchange put(String target, String sent, int status, String answer) {
    return exchange(
        "PUT",
        target,
        sent,
        status,
        Map.of("ETag", "\"1\"", "Content-Type", "application/json"),
        answer);
  }

  private static Exchange exchange(
      String method,
      String target,
      String sent,
      int status,
      Map<String, String> headers,
      String answer) {
    Map<String, String> requestHeaders = Map.of("Content-Type", "application/json");
    return new Exchange(method, URI.create(target), requestHeaders, sent, status, headers, answer);
  }

  @Test
  void a_documented_exchange_is_accepted_and_recorded() {
    contract.check(put("/things/box?size=9", RED, 200, RED));

    assertThat(contract.seen()).containsExactly("PUT /things/{name} 200");
    assertThat(contract.answers())
        .containsExactly("GET /things 204", "PUT /things/{name} 200", "PUT /things/{name} 400");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/things/box | {\"colour\":\"red\"} | 201 | {\"colour\":\"red\"} | status: 201",
        "/things/box | {\"colour\":\"red\"} | 200 | {\"colour\":\"green\"} | colour",
        "/things/box | {\"colour\":\"red\"} | 200 | {} | 'colour'",
        "/things/box | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\",\"size\":1} | 'size'",
        "/things/box | {\"colour\":\"red\"} | 200 | red | no JSON",
        "/things/box | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} <html> | no JSON",
        "/things/box | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\",\"colour\":\"red\"} | unique",
        "/things/box | {} | 200 | {\"colour\":\"red\"} | request",
        "/things/box?size=10 | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} | parameter size 10",
        "/things/box?size=a | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} | parameter size a",
        "/things/box?hue=1 | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} | parameter hue",
        "/things/b0x | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} | parameter name b0x",
        "/thing | {\"colour\":\"red\"} | 200 | {\"colour\":\"red\"} | status: 200",
        "/things/box | {\"colour\":\"red\"} | 400 | {\"colour\":\"red\"} | answer: a body",
      })
  void an_undocumented_exchange_is_reported(
      String target, String sent, int status, String answer, String flaw) {
    assertThatThrownBy(() -> contract.check(put(target, sent, status, answer)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(flaw);
  }

  @Test
  void a_wrong_missing_or_undocumented_header_is_reported() {
    Map<String, String> headers = new HashMap<>();
    headers.put("content-type", "application/json");
    assertFlaw(headers, "header etag is missing");
    headers.put("etag", "one");
    assertFlaw(headers, "header etag one");
    headers.put("etag", "\"1\"");
    headers.put("x-more", "1");
    assertFlaw(headers, "header x-more is not documented");
    headers.remove("x-more");
    headers.put("content-type", "text/plain");
    assertFlaw(headers, "media type text/plain");
  }

  private void assertFlaw(Map<String, String> headers, String flaw) {
    Exchange exchange = exchange("PUT", "/things/box", RED, 200, headers, RED);
    assertThatThrownBy(() -> contract.check(exchange)).hasMessageContaining(flaw);
  }

  @Test
  void a_refused_request_may_differ_from_the_contract() {
    assertThatCode(() -> contract.check(exchange("PUT", "/things/b0x", "x", 400, Map.of(), "")))
        .doesNotThrowAnyException();
  }

  @Test
  void an_unknown_route_is_a_404_of_the_gateway() {
    Map<String, String> json = Map.of("content-type", "application/json");
    assertThatCode(() -> contract.check(exchange("POST", "/things", "", 404, json, "{}")))
        .doesNotThrowAnyException();
  }
}
