package dev.tollgate.e2e.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment.Answer;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalid input gets the right status and an error that names it, and changes nothing. */
final class BadInputIT {
  private static final Deployment DEPLOYMENT = Deployment.underTest();

  @BeforeAll
  static void tenant() {
    assertThat(DEPLOYMENT.onboard("sound", "silver", "{}").status()).isEqualTo(201);
  }

  private static Answer valid() {
    return DEPLOYMENT.control("GET", "/tenants/sound");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST | /tenants | {\"tenantId\":\"Bad_Id\",\"tier\":\"gold\"} | 400 | tenantId",
        "POST | /tenants | {\"tenantId\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"tier\":\"gold\"} | 400 | tenantId",
        "POST | /tenants | {\"tier\":\"gold\"} | 400 | tenantId",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"platinum\"} | 400 | tier",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\",\"overrides\":{\"tenantConnections\":0}} | 400 | overrides.tenantConnections",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\",\"overrides\":{\"tenantConnections\":-3}} | 400 | overrides.tenantConnections",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\",\"overrides\":{\"tenantConnections\":1e30}} | 400 | overrides.tenantConnections",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\",\"overrides\":{\"tenantConnections\":\"10\"}} | 400 | overrides.tenantConnections",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\",\"overrides\":{\"speed\":10}} | 400 | overrides.speed",
        "POST | /tenants | {\"tenantId\":\"x\",\"tier\":\"gold\" | 400 | body",
        "POST | /tenants | [] | 400 | body",
        "PATCH | /tenants/sound | {\"overrides\":{\"sessionTTL\":100000000}} | 400 | overrides.sessionTTL",
        "PATCH | /tenants/sound | {\"status\":\"ASLEEP\"} | 400 | status",
        "PATCH | /tenants/sound | {\"tier\":\"nickel\"} | 400 | tier",
        "PATCH | /tenants/nobody | {\"tier\":\"gold\"} | 404 | ",
        "GET | /tenants/nobody |  | 404 | ",
        "GET | /tenants/No%20Body |  | 400 | tenantId",
        "GET | /tiers/platinum |  | 404 | ",
        "DELETE | /tiers/silver |  | 409 | ",
        "PUT | /tiers/zinc | {\"tier\":\"zinc\",\"isolation\":\"POOL\",\"limits\":{}} | 400 | limits.tenantPerMinute",
      })
  void an_invalid_control_plane_request_gets_a_problem_that_names_the_value(
      String method, String path, String body, int status, String field) {
    Answer before = valid();
    Answer refused = DEPLOYMENT.control(method, path, body == null ? "" : body);
    assertThat(refused.status()).as("%s", refused).isEqualTo(status);
    assertThat(refused.header("content-type")).isEqualTo("application/problem+json");
    assertThat(refused.body().get("status").asInt()).isEqualTo(status);
    if (field != null) {
      assertThat(refused.body().at("/errors/0/field").asText()).isEqualTo(field);
    }
    assertThat(valid().body().get("version")).isEqualTo(before.body().get("version"));
    assertThat(DEPLOYMENT.control("GET", "/tenants/x").status()).isEqualTo(404);
    assertThat(DEPLOYMENT.control("GET", "/tiers/zinc").status()).isEqualTo(404);
  }

  /** API Gateway decodes a path once before it selects a route, and once after. */
  @ParameterizedTest
  @CsvSource({
    "GET, /tenants%2Fsound, 200",
    "GET, /tenants/soun%64, 200",
    "GET, /tenants/soun%2564, 200",
    "GET, /tenants/sound%3Fx, 200",
    "GET, /tenants/sound%253Fx, 400",
    "GET, /tenants/sound%2Fx, 404",
    "GET, /tenants/sound%252Fx, 400",
    "PATCH, /tenants/so%C3%BCnd, 400",
    "GET, /tenants/sound+, 400",
    "GET, /tenants/sound%2525, 400",
    "GET, /tenants/sound%25, 400",
    "GET, /tiers/silve%72, 200",
    "GET, /tiers/silver%20, 400",
    "GET, /tiers%2Fsilver%2Fx, 404",
  })
  void an_encoded_path_reaches_the_route_of_its_decoded_form(
      String method, String path, int status) {
    assertThat(DEPLOYMENT.control(method, path, method.equals("GET") ? "" : "{}").status())
        .isEqualTo(status);
  }

  @Test
  void a_body_of_another_media_type_or_over_the_size_limit_is_refused() {
    String url = DEPLOYMENT.outputs().get("ControlPlaneURL") + "/tenants";
    assertThat(DEPLOYMENT.send(url, "POST", "tenantId=x", "text/plain").status()).isEqualTo(415);
    String large = "{\"tenantId\":\"" + "x".repeat(65 * 1024) + "\"}";
    assertThat(DEPLOYMENT.send(url, "POST", large, "application/json").status()).isEqualTo(413);
  }

  @ParameterizedTest
  @CsvSource({
    "'?tenantId=sound', 401",
    "'?sessionId=00000000000000000000000000000000', 401",
    "'', 401",
    "'?tenantId=sound&sessionId=00000000000000000000000000000000', 403",
    "'?tenantId=nobody&sessionId=00000000000000000000000000000000', 403",
    "'?tenantId=..%2F..&sessionId=00000000000000000000000000000000', 403",
    "'?tenantId=sound&sessionId=%27%20OR%201', 403",
    "'?tenantId=sound&tenantId=other&sessionId=00000000000000000000000000000000', 403",
  })
  void an_invalid_handshake_gets_the_documented_status(String query, int status) {
    assertThat(DEPLOYMENT.handshake(query).join().status()).isEqualTo(status);
  }

  @Test
  void a_handshake_with_an_ended_session_or_one_of_another_tenant_is_refused() throws Exception {
    DEPLOYMENT.onboard("other", "silver", "{}");
    String session = DEPLOYMENT.open("sound");
    assertThat(DEPLOYMENT.connect("other", session).status()).isEqualTo(403);
    assertThat(DEPLOYMENT.connect("sound", session).status()).isEqualTo(101);
    DEPLOYMENT.pass(Duration.ofSeconds(301));
    assertThat(DEPLOYMENT.connect("sound", session).status()).isEqualTo(403);
    assertThat(DEPLOYMENT.session("GET", Deployment.query("sound", session)).status())
        .isEqualTo(404);
  }

  @Test
  void a_suspended_tenant_is_refused_until_it_is_activated() {
    DEPLOYMENT.onboard("resting", "silver", "{}");
    String session = DEPLOYMENT.open("resting");
    assertThat(
            DEPLOYMENT.control("PATCH", "/tenants/resting", "{\"status\":\"SUSPENDED\"}").status())
        .isEqualTo(200);
    assertThat(DEPLOYMENT.connect("resting", session).status()).isEqualTo(403);
    assertThat(DEPLOYMENT.session("PUT", "?tenantId=resting").status()).isEqualTo(403);
    assertThat(DEPLOYMENT.control("PATCH", "/tenants/resting", "{\"status\":\"ACTIVE\"}").status())
        .isEqualTo(200);
    assertThat(DEPLOYMENT.connect("resting", session).status()).isEqualTo(403);
    assertThat(DEPLOYMENT.connect("resting", DEPLOYMENT.open("resting")).status()).isEqualTo(101);
  }
}
