package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.ControlPlaneFixture.Snapshot;
import dev.tollgate.http.testing.Exchange;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RandomInput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Invalid input is refused by name, and changes nothing. */
class BadInputTest {
  private static final String LIMITS =
      """
      {"tenantPerMinute":60,"sessionPerMinute":5,"connectionsPerSession":2,
       "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":60}""";

  /**
   * Values that the schema accepts and the API refuses. No schema can express these rules: the tier
   * exists and equals the tier in the path, and a name occurs once. The schema checker does not see
   * the notation of a number, or a line feed at the end of a name.
   */
  private static final Set<String> BEYOND_A_SCHEMA =
      Set.of("platinum", "gold", "300", "given twice", "7.0", "beta\n", "1E+2147483647");

  private static final APIGatewayV2HTTPResponse NO_ANSWER =
      APIGatewayV2HTTPResponse.builder().withHeaders(Map.of()).withBody("").build();

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  static Stream<Arguments> bodiesOfPost() {
    return Stream.of(
        Arguments.of("", "body", ""),
        Arguments.of("null", "body", "null"),
        Arguments.of("[]", "body", "[]"),
        Arguments.of("\"acme\"", "body", "\"acme\""),
        Arguments.of("{\"tenantId\":\"beta\",", "body", "{\"tenantId\":\"beta\","),
        Arguments.of(
            "{\"tenantId\":\"beta\",\"tier\":\"gold\"}x",
            "body",
            "{\"tenantId\":\"beta\",\"tier\":\"gold\"}x"),
        Arguments.of("{}", "tenantId", "missing"),
        Arguments.of("{\"tier\":\"gold\"}", "tenantId", "missing"),
        Arguments.of("{\"tenantId\":\"beta\"}", "tier", "missing"),
        Arguments.of("{\"tenantId\":null,\"tier\":\"gold\"}", "tenantId", "null"),
        Arguments.of("{\"tenantId\":7,\"tier\":\"gold\"}", "tenantId", "7"),
        Arguments.of("{\"tenantId\":\"\",\"tier\":\"gold\"}", "tenantId", ""),
        Arguments.of("{\"tenantId\":\"Beta\",\"tier\":\"gold\"}", "tenantId", "Beta"),
        Arguments.of("{\"tenantId\":\"be_ta\",\"tier\":\"gold\"}", "tenantId", "be_ta"),
        Arguments.of("{\"tenantId\":\"-beta\",\"tier\":\"gold\"}", "tenantId", "-beta"),
        Arguments.of("{\"tenantId\":\"beta\\n\",\"tier\":\"gold\"}", "tenantId", "beta\n"),
        Arguments.of("{\"tenantId\":\"béta\",\"tier\":\"gold\"}", "tenantId", "béta"),
        Arguments.of(
            "{\"tenantId\":\"" + "b".repeat(37) + "\",\"tier\":\"gold\"}",
            "tenantId",
            "b".repeat(37)),
        Arguments.of("{\"tenantId\":\"beta\",\"tier\":\"platinum\"}", "tier", "platinum"),
        Arguments.of("{\"tenantId\":\"beta\",\"tier\":\"Gold\"}", "tier", "Gold"),
        Arguments.of("{\"tenantId\":\"beta\",\"tier\":[\"gold\"]}", "tier", "[\"gold\"]"),
        Arguments.of(
            "{\"tenantId\":\"beta\",\"tier\":\"gold\",\"tier\":\"gold\"}", "tier", "given twice"),
        Arguments.of(
            "{\"tenantId\":\"beta\",\"tier\":\"gold\",\"status\":\"ACTIVE\"}",
            "status",
            "\"ACTIVE\""),
        Arguments.of(
            "{\"tenantId\":\"beta\",\"tier\":\"gold\",\"Tier\":\"gold\"}", "Tier", "\"gold\""));
  }

  static Stream<Arguments> overrides() {
    return Stream.of(
        Arguments.of("null", "overrides", "null"),
        Arguments.of("[]", "overrides", "[]"),
        Arguments.of("7", "overrides", "7"),
        Arguments.of("{\"tenantConections\":7}", "overrides.tenantConections", "7"),
        Arguments.of("{\"tenantConnections\":null}", "overrides.tenantConnections", "null"),
        Arguments.of("{\"tenantConnections\":\"7\"}", "overrides.tenantConnections", "\"7\""),
        Arguments.of("{\"tenantConnections\":7.5}", "overrides.tenantConnections", "7.5"),
        Arguments.of("{\"tenantConnections\":7.0}", "overrides.tenantConnections", "7.0"),
        Arguments.of("{\"tenantConnections\":true}", "overrides.tenantConnections", "true"),
        Arguments.of("{\"tenantConnections\":[7]}", "overrides.tenantConnections", "[7]"),
        Arguments.of("{\"tenantConnections\":0}", "overrides.tenantConnections", "0"),
        Arguments.of("{\"tenantConnections\":-1}", "overrides.tenantConnections", "-1"),
        Arguments.of("{\"tenantConnections\":1000001}", "overrides.tenantConnections", "1000001"),
        Arguments.of(
            "{\"tenantConnections\":9223372036854775808}",
            "overrides.tenantConnections",
            "9223372036854775808"),
        Arguments.of(
            "{\"tenantConnections\":7,\"tenantConnections\":8}",
            "overrides.tenantConnections",
            "given twice"),
        Arguments.of("{\"tenantPerMinute\":30001}", "overrides.tenantPerMinute", "30001"),
        Arguments.of("{\"sessionPerMinute\":60001}", "overrides.sessionPerMinute", "60001"),
        Arguments.of("{\"connectionsPerSession\":1001}", "overrides.connectionsPerSession", "1001"),
        Arguments.of("{\"sessionTTL\":86401}", "overrides.sessionTTL", "86401"),
        Arguments.of("{\"messagesPerMinute\":60001}", "overrides.messagesPerMinute", "60001"),
        Arguments.of("{\"sessionLifetime\":2592001}", "overrides.sessionLifetime", "2592001"),
        Arguments.of("{\"sessionsPerSubject\":101}", "overrides.sessionsPerSubject", "101"),
        Arguments.of("{\"sessionTTL\":300,\"sessionLifetime\":299}", "sessionTTL", "300"),
        Arguments.of("{\"line\":null}", "overrides.line", "null"),
        Arguments.of("{\"line\":\"false\"}", "overrides.line", "\"false\""),
        Arguments.of("{\"line\":0}", "overrides.line", "0"),
        Arguments.of("{\"buckets\":{}}", "overrides.buckets", "{}"));
  }

  static Stream<Arguments> bodiesOfPatch() {
    return Stream.of(
        Arguments.of("[]", "body", "[]"),
        Arguments.of("{\"tier\":null}", "tier", "null"),
        Arguments.of("{\"tier\":\"platinum\"}", "tier", "platinum"),
        Arguments.of("{\"tenantId\":\"acme\"}", "tenantId", "\"acme\""),
        Arguments.of("{\"status\":\"OFFBOARDING\"}", "status", "OFFBOARDING"),
        Arguments.of("{\"status\":\"active\"}", "status", "active"),
        Arguments.of("{\"status\":null}", "status", "null"),
        Arguments.of("{\"status\":1}", "status", "1"),
        Arguments.of("{\"limits\":{}}", "limits", "{}"));
  }

  static Stream<Arguments> bodiesOfTier() {
    return Stream.of(
        Arguments.of("{}", "isolation", "missing"),
        Arguments.of("{\"isolation\":\"POOL\"}", "limits", "missing"),
        Arguments.of("{\"limits\":" + LIMITS + "}", "isolation", "missing"),
        Arguments.of(tier("\"isolation\":\"BRIDGE\""), "isolation", "BRIDGE"),
        Arguments.of("{\"isolation\":\"POOL\",\"limits\":{}}", "limits.tenantPerMinute", "missing"),
        Arguments.of(
            "{\"isolation\":\"POOL\",\"limits\":" + LIMITS.replace(":200", ":0.2") + "}",
            "limits.sessionTTL",
            "0.2"),
        Arguments.of(
            "{\"isolation\":\"POOL\",\"limits\":" + LIMITS.replace(":200", ":0") + "}",
            "limits.sessionTTL",
            "0"),
        Arguments.of(
            "{\"isolation\":\"POOL\",\"limits\":"
                + LIMITS.replace(":200", ":300,\"sessionLifetime\":299")
                + "}",
            "limits.sessionTTL",
            "300"),
        Arguments.of(tier("\"isolation\":\"POOL\",\"tier\":\"gold\""), "tier", "gold"),
        Arguments.of(tier("\"isolation\":\"POOL\",\"name\":\"own\""), "name", "\"own\""),
        Arguments.of(tier("\"isolation\":\"POOL\",\"fillMode\":\"HOSE\""), "fillMode", "HOSE"),
        Arguments.of(
            tier("\"isolation\":\"POOL\",\"onUnavailable\":true"), "onUnavailable", "true"),
        Arguments.of(tier("\"isolation\":\"POOL\",\"version\":\"1\""), "version", "\"1\""),
        Arguments.of(tier("\"isolation\":\"POOL\",\"line\":\"off\""), "line", "\"off\""),
        Arguments.of(tier("\"isolation\":\"POOL\",\"line\":null"), "line", "null"),
        Arguments.of(buckets("[]"), "buckets", "[]"),
        Arguments.of(buckets("{\"Send\":{\"ratePerMinute\":1}}"), "buckets.Send", "Send"),
        Arguments.of(buckets("{\"send\":7}"), "buckets.send", "7"),
        Arguments.of(buckets("{\"send\":{}}"), "buckets.send.ratePerMinute", "missing"),
        Arguments.of(buckets("{\"send\":{\"rate\":1}}"), "buckets.send.rate", "1"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":\"1\"}}"), "buckets.send.ratePerMinute", "\"1\""),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":0}}"), "buckets.send.ratePerMinute", "0"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":-0.2}}"), "buckets.send.ratePerMinute", "-0.2"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":0.0000001}}"),
            "buckets.send.ratePerMinute",
            "1E-7"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":60001}}"), "buckets.send.ratePerMinute", "60001"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":1e2147483647}}"),
            "buckets.send.ratePerMinute",
            "1E+2147483647"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":1,\"capacity\":0}}"),
            "buckets.send.capacity",
            "0"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":1,\"capacity\":1.5}}"),
            "buckets.send.capacity",
            "1.5"),
        Arguments.of(
            buckets("{\"send\":{\"ratePerMinute\":1,\"capacity\":100001}}"),
            "buckets.send.capacity",
            "100001"),
        Arguments.of(
            buckets("{\"connect\":{\"ratePerMinute\":1}}"), "buckets.connect.ratePerMinute", "1"),
        Arguments.of(
            buckets("{\"message\":{\"capacity\":null}}"), "buckets.message.capacity", "null"));
  }

  private static String tier(String fields) {
    return "{" + fields + ",\"limits\":" + LIMITS + "}";
  }

  private static String buckets(String buckets) {
    return tier("\"isolation\":\"POOL\",\"buckets\":" + buckets);
  }

  @ParameterizedTest
  @MethodSource("bodiesOfPost")
  void post_of_a_bad_tenant_is_refused(String body, String field, String value) {
    assertRefused(HttpApiEvents.of("POST /tenants", Map.of(), body), field, value);
  }

  @ParameterizedTest
  @MethodSource("dev.tollgate.http.testing.RandomInput#texts")
  void a_text_that_breaks_parsers_causes_no_error_of_ours(String text) {
    String json = new RandomInput(0).quoted(text);
    for (String body :
        List.of(
            json,
            "{\"tenantId\":" + json + ",\"tier\":\"gold\"}",
            "{\"tenantId\":\"beta\",\"tier\":" + json + "}",
            "{\"tenantId\":\"beta\",\"tier\":\"gold\"," + json + ":1}")) {
      assertThat(at.post(body).status()).as(body).isIn(201, 400);
    }
  }

  @ParameterizedTest
  @MethodSource("overrides")
  void post_of_bad_overrides_is_refused(String overrides, String field, String value) {
    String body = "{\"tenantId\":\"beta\",\"tier\":\"gold\",\"overrides\":" + overrides + "}";

    assertRefused(HttpApiEvents.of("POST /tenants", Map.of(), body), field, value);
  }

  @ParameterizedTest
  @MethodSource("overrides")
  void patch_of_bad_overrides_is_refused(String overrides, String field, String value) {
    assertRefused(patch("{\"overrides\":" + overrides + "}"), field, value);
  }

  @ParameterizedTest
  @MethodSource("bodiesOfPatch")
  void patch_of_a_bad_change_is_refused(String body, String field, String value) {
    assertRefused(patch(body), field, value);
  }

  @ParameterizedTest
  @MethodSource("bodiesOfTier")
  void put_of_a_bad_tier_is_refused(String body, String field, String value) {
    assertRefused(HttpApiEvents.of("PUT /tiers/{tier}", Map.of("tier", "own"), body), field, value);
  }

  @Test
  void put_of_a_tier_with_too_many_buckets_is_refused() {
    StringBuilder many = new StringBuilder("{\"a\":{\"ratePerMinute\":1}");
    for (int i = 0; i < 20; i++) {
      many.append(",\"b").append(i).append("\":{\"ratePerMinute\":1}");
    }

    assertRefused(
        HttpApiEvents.of("PUT /tiers/{tier}", Map.of("tier", "own"), buckets(many + "}")),
        "buckets",
        "21");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ACME", "ac_me", "-acme", "acme%20", "a b", "../acme"})
  void a_bad_tenant_id_in_the_path_is_refused(String id) {
    for (String route :
        new String[] {
          "GET /tenants/{tenantId}",
          "PATCH /tenants/{tenantId}",
          "DELETE /tenants/{tenantId}",
          "DELETE /tenants/{tenantId}/line",
          "POST /tenants/{tenantId}/schedules",
          "GET /tenants/{tenantId}/sessions",
          "GET /tenants/{tenantId}/dead-letters",
          "POST /tenants/{tenantId}/dead-letters/redrive"
        }) {
      assertRefused(HttpApiEvents.of(route, Map.of("tenantId", id), "{}"), "tenantId", id);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GOLD", "1st", "go_ld", "gold/"})
  void a_bad_tier_name_in_the_path_is_refused(String name) {
    for (String route :
        new String[] {
          "GET /tiers/{tier}",
          "PUT /tiers/{tier}",
          "DELETE /tiers/{tier}",
          "POST /tiers/{tier}/schedules"
        }) {
      assertRefused(HttpApiEvents.of(route, Map.of("tier", name), "{}"), "tier", name);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "limit, 0",
    "limit, 101",
    "limit, -1",
    "limit, 1.5",
    "limit, ten",
    "limit, ''",
    "limit, '1,2'",
    "limit, 99999999999999999999",
    "cursor, ''",
    "cursor, '!'",
    "cursor, QUNNRQ",
    "cursor, acme",
    "prefix, ''",
    "prefix, A",
    "prefix, -a",
    "prefix, 'a,b'",
    "prefix, a_",
    "prefix, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "tier, ''",
    "tier, GOLD",
    "tier, 'gold,gold'",
    "pending, ''",
    "pending, yes",
    "pending, TRUE",
    "pending, 'true,true'",
  })
  void a_bad_parameter_of_a_listing_is_refused(String name, String value) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /tenants");
    event.setQueryStringParameters(new HashMap<>(Map.of(name, value)));

    assertRefused(event, name, value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",", "acme,", ",acme", "acme,,beta", "acme, beta", "ACME", "a_b"})
  void bad_tenant_ids_for_activity_are_refused(String ids) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /activity");
    event.setQueryStringParameters(new HashMap<>(Map.of("tenantIds", ids)));

    assertRefused(event, "tenantIds", ids);
  }

  @Test
  void no_ids_or_more_than_25_ids_are_refused() {
    assertThat(at.activity("a,".repeat(24) + "a").status()).isEqualTo(200);
    assertThat(at.activity("a,".repeat(25) + "a").status()).isEqualTo(400);
    assertThat(at.send(HttpApiEvents.of("GET /activity")).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({"limit, '\\'", "limit, 0", "cursor, acme"})
  void a_bad_page_parameter_is_refused_without_dry_run_too(String name, String value) {
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of(
            "PUT /tiers/{tier}", Map.of("tier", "own"), buckets("{\"a\":{\"ratePerMinute\":1}}"));
    event.setQueryStringParameters(new HashMap<>(Map.of(name, value)));

    assertRefused(event, name, value);
  }

  private static APIGatewayV2HTTPEvent patch(String body) {
    return HttpApiEvents.of("PATCH /tenants/{tenantId}", Map.of("tenantId", "acme"), body);
  }

  private void assertRefused(APIGatewayV2HTTPEvent event, String field, String value) {
    at.onboard("acme", "bronze");
    Snapshot before = at.snapshot();

    Answer answer = at.send(event);

    assertThat(answer.status()).as("%s", answer).isEqualTo(400);
    assertThat(answer.headers()).containsEntry("content-type", "application/problem+json");
    assertThat(answer.document().get("type").textValue())
        .isEqualTo("urn:tollgate:problem:invalid-value");
    assertThat(answer.document().at("/errors/0/field").textValue()).isEqualTo(field);
    assertThat(answer.document().at("/errors/0/value").textValue()).isEqualTo(value);
    assertThat(answer.document().at("/errors/0/expected").textValue()).isNotEmpty();
    assertThat(answer.document().get("detail").textValue()).contains(field, value);
    assertThat(at.snapshot()).isEqualTo(before);
    if (!BEYOND_A_SCHEMA.contains(value) && !field.equals("cursor")) {
      Exchange.of(event, NO_ANSWER)
          .ifPresent(
              refused ->
                  assertThat(ControlPlaneFixture.CONTRACT.flawsOfRequest(refused))
                      .as(value)
                      .isNotEmpty());
    }
  }

  @ParameterizedTest
  @CsvSource({"POST /tenants", "PATCH /tenants/{tenantId}", "PUT /tiers/{tier}"})
  void another_media_type_is_refused(String route) {
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of(
            route,
            Map.of("tenantId", "acme", "tier", "gold"),
            "{\"tenantId\":\"acme\",\"tier\":\"gold\"}");
    event.getHeaders().put("content-type", "application/x-www-form-urlencoded");

    assertThat(at.send(event).status()).isEqualTo(415);
    assertThat(at.tenant("acme")).isEmpty();
  }

  @Test
  void a_large_body_is_refused() {
    String body = "{\"tenantId\":\"acme\",\"tier\":\"gold\"}" + " ".repeat(64 * 1024);

    assertThat(at.post(body).status()).isEqualTo(413);
    assertThat(at.tenant("acme")).isEmpty();
  }
}
