package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.testing.TokenIssuer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Sessions of a deployment that requires tokens: only the holder of a tenant's token gets its
 * sessions. A refused request causes no AWS request.
 */
final class SessionTokensIT {
  private static final String ISSUER = "https://login.example.com/";
  private static final String AUDIENCE = "tollgate";
  private static final String CLAIM = "custom:tenant";
  private static final RSAKey KEY = TokenIssuer.key("one");

  @TempDir private static Path directory;
  private static final AtomicInteger SUBJECTS = new AtomicInteger();

  private static TokenIssuer issuer;
  private static LocalDeployment deployment;

  @BeforeAll
  static void deploy() throws Exception {
    Path assembly =
        Assembly.synthesize(
            directory,
            Map.of("jwtIssuer", ISSUER, "jwtAudience", "app," + AUDIENCE, "jwtTenantClaim", CLAIM));
    issuer = new TokenIssuer(() -> deployment.clock().instant());
    deployment = LocalDeployment.of(assembly, Map.of(ISSUER, issuer.keySet()));
    for (String tenant : List.of("mine", "theirs")) {
      assertThat(deployment.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
    }
  }

  @AfterAll
  static void stop() {
    deployment.close();
    issuer.close();
  }

  @BeforeEach
  void publish() {
    issuer.publish(KEY);
  }

  /** Claims with a subject that no other token has. */
  private static JWTClaimsSet.Builder claims(String tenant) {
    return issuer
        .claims(ISSUER, AUDIENCE)
        .subject("subject " + SUBJECTS.incrementAndGet())
        .claim(CLAIM, tenant);
  }

  private static String token(JWTClaimsSet.Builder claims) {
    return TokenIssuer.token(KEY, claims);
  }

  private static String sessionUrl() {
    return deployment.cloud().outputs().getOrDefault("SessionURL", "");
  }

  private static Answer call(String method, String query, String authorization) {
    return deployment.send(
        sessionUrl() + query, method, "", Map.of("authorization", authorization));
  }

  private static String open(String tenant) {
    Answer created = call("PUT", "?tenantId=" + tenant, "Bearer " + token(claims(tenant)));
    assertThat(created.status()).as("%s", created).isEqualTo(201);
    return created.body().get("sessionId").asText();
  }

  /**
   * Asserts that no call of the session API succeeds with this token, and that none causes an AWS
   * request.
   */
  private static void assertRefused(int status, String authorization) throws Exception {
    String session = open("mine");
    assertThat(
            deployment.requestsOf(
                () -> {
                  for (String method : List.of("PUT", "GET", "DELETE")) {
                    Answer refused = call(method, Deployment.query("mine", session), authorization);
                    assertThat(refused.status()).as("%s %s", method, refused).isEqualTo(status);
                    assertThat(refused.header("www-authenticate").startsWith("Bearer"))
                        .isEqualTo(status == 401);
                  }
                }))
        .isEmpty();
    String token = token(claims("mine"));
    assertThat(call("GET", Deployment.query("mine", session), token).status()).isEqualTo(200);
  }

  @Test
  void a_token_of_a_tenant_opens_shows_and_ends_its_sessions() {
    String session = open("mine");
    String query = Deployment.query("mine", session);
    assertThat(call("GET", query, "Bearer " + token(claims("mine"))).status()).isEqualTo(200);
    assertThat(call("DELETE", query, token(claims("mine"))).status()).isEqualTo(204);
    assertThat(call("GET", query, token(claims("mine"))).status()).isEqualTo(404);
  }

  @Test
  void a_handshake_needs_only_the_session_id() throws Exception {
    Handshake socket = deployment.connect("mine", open("mine"));
    assertThat(socket.status()).isEqualTo(101);
    socket.send("{\"action\":\"PooledSQS\",\"message\":1}");
    socket.frames().await("reply", 1);
    deployment.close(socket);
    assertThat(deployment.connect("mine", "0".repeat(32)).status()).isEqualTo(403);
  }

  @Test
  void a_listing_of_tenants_is_refused_to_everybody() {
    assertThat(deployment.cloud().outputs()).doesNotContainKey("TenantURL");
    String url = sessionUrl().replaceFirst("session$", "tenant");
    Map<String, String> headers = Map.of("authorization", "Bearer " + token(claims("mine")));
    assertThat(deployment.send(url, "GET", "", headers).status()).isEqualTo(404);
  }

  @Test
  void a_request_without_token_gets_no_session() throws Exception {
    String session = open("mine");
    assertThat(
            deployment.requestsOf(
                () -> {
                  for (String method : List.of("PUT", "GET", "DELETE")) {
                    Answer refused = deployment.session(method, Deployment.query("mine", session));
                    assertThat(refused.status()).isEqualTo(401);
                    assertThat(refused.body().path("message").asText()).isEqualTo("Unauthorized");
                    assertThat(refused.header("www-authenticate")).isEqualTo("Bearer");
                  }
                }))
        .isEmpty();
  }

  @Test
  void a_preflight_request_needs_no_token() {
    Answer preflight =
        deployment.send(
            sessionUrl(),
            "OPTIONS",
            "",
            Map.of(
                "origin", "http://example.com",
                "access-control-request-method", "PUT",
                "access-control-request-headers", "authorization"));
    assertThat(preflight.status()).isEqualTo(204);
    assertThat(preflight.header("access-control-allow-headers")).contains("authorization");
  }

  @Test
  void a_malformed_token_gets_no_session() throws Exception {
    String[] parts = token(claims("mine")).split("\\.", -1);
    assertRefused(401, "garbage");
    assertRefused(401, "Bearer a.b.c");
    assertRefused(401, "Basic dXNlcjpwYXNz");
    assertRefused(401, "Bearer " + parts[0] + "." + parts[1] + ".");
  }

  @Test
  void a_token_of_another_issuer_or_for_another_audience_gets_no_session() throws Exception {
    assertRefused(401, token(claims("mine").issuer("https://login.example.com")));
    assertRefused(401, token(claims("mine").issuer("https://evil.example/")));
    assertRefused(401, token(claims("mine").audience("tollgate-admin")));
    assertRefused(401, token(claims("mine").audience(List.of())));
  }

  @Test
  void a_token_is_valid_from_nbf_until_exp() throws Exception {
    assertRefused(401, token(claims("mine").notBeforeTime(in(60))));
    assertRefused(401, token(claims("mine").issueTime(in(60))));
    assertRefused(401, token(claims("mine").expirationTime(in(0))));
    String brief = token(claims("mine").expirationTime(in(2)));
    assertThat(call("PUT", "?tenantId=mine", brief).status()).isEqualTo(201);
    deployment.advance(Duration.ofSeconds(2));
    assertRefused(401, brief);
  }

  private static Date in(long seconds) {
    return Date.from(deployment.clock().instant().plusSeconds(seconds));
  }

  @Test
  void a_token_signed_by_another_key_gets_no_session() throws Exception {
    assertRefused(401, TokenIssuer.token(TokenIssuer.key("one"), claims("mine")));
    assertRefused(401, TokenIssuer.token(TokenIssuer.key("unknown"), claims("mine")));
    String[] mine = token(claims("mine")).split("\\.", -1);
    String[] theirs = token(claims("theirs")).split("\\.", -1);
    assertRefused(401, theirs[0] + "." + mine[1] + "." + theirs[2]);
  }

  @Test
  void a_token_without_signature_or_signed_with_the_public_key_gets_no_session() throws Exception {
    assertRefused(401, new PlainJWT(claims("mine").build()).serialize());
    assertRefused(401, symmetric(KEY.toRSAPublicKey().getEncoded()));
    assertRefused(401, symmetric(KEY.toPublicJWK().toString().getBytes(StandardCharsets.UTF_8)));
  }

  private static String symmetric(byte[] secret) throws JOSEException {
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("one").build();
    SignedJWT token = new SignedJWT(header, claims("mine").build());
    token.sign(new MACSigner(secret));
    return token.serialize();
  }

  @Test
  void a_token_for_another_tenant_gets_no_session() throws Exception {
    assertRefused(403, token(claims("theirs")));
    assertRefused(403, token(claims("min")));
    assertRefused(403, token(claims("mine2")));
    assertRefused(403, token(claims("MINE")));
    Answer refused = call("PUT", "?tenantId=mine", token(claims("theirs")));
    assertThat(refused.body().path("type").asText())
        .isEqualTo("urn:tollgate:problem:not-your-tenant");
    assertThat(refused.body().path("detail").asText())
        .isEqualTo(
            "Claim `custom:tenant` of the token does not name tenant `mine`. Use a token of this tenant.");
  }

  @Test
  void a_token_that_names_no_tenant_or_several_gets_no_session() throws Exception {
    assertRefused(403, token(issuer.claims(ISSUER, AUDIENCE)));
    assertRefused(403, token(issuer.claims(ISSUER, AUDIENCE).claim("tenantId", "mine")));
    assertRefused(403, token(claims("mine").claim(CLAIM, List.of("mine"))));
    assertRefused(403, token(claims("mine").claim(CLAIM, List.of("mine", "theirs"))));
    assertRefused(403, token(claims("mine").claim(CLAIM, Map.of("id", "mine"))));
    assertRefused(403, token(claims("mine").claim(CLAIM, 1)));
    assertRefused(403, token(claims("")));
  }

  @Test
  void a_session_of_another_tenant_is_refused_or_not_found() {
    String session = open("theirs");
    String token = token(claims("mine"));
    for (String method : List.of("GET", "DELETE")) {
      assertThat(call(method, Deployment.query("theirs", session), token).status()).isEqualTo(403);
      assertThat(call(method, Deployment.query("mine", session), token).status()).isEqualTo(404);
    }
    String query = Deployment.query("theirs", session);
    assertThat(call("GET", query, token(claims("theirs"))).status()).isEqualTo(200);
  }

  @Test
  @Tag("nightly")
  void a_new_key_is_accepted_soon_and_an_old_key_until_its_cache_entry_expires() throws Exception {
    assertThat(call("PUT", "?tenantId=mine", token(claims("mine"))).status()).isEqualTo(201);
    RSAKey next = TokenIssuer.key("two");
    issuer.publish(KEY, next);
    deployment.advance(Duration.ofSeconds(10));
    assertThat(call("PUT", "?tenantId=mine", TokenIssuer.token(next, claims("mine"))).status())
        .isEqualTo(201);
    assertThat(call("PUT", "?tenantId=mine", token(claims("mine"))).status()).isEqualTo(201);
    issuer.publish(next);
    deployment.advance(Duration.ofHours(2));
    assertThat(call("PUT", "?tenantId=mine", token(claims("mine"))).status()).isEqualTo(401);
    assertThat(call("PUT", "?tenantId=mine", TokenIssuer.token(next, claims("mine"))).status())
        .isEqualTo(201);
    issuer.publish(KEY);
    deployment.advance(Duration.ofSeconds(10));
    assertThat(call("PUT", "?tenantId=mine", token(claims("mine"))).status()).isEqualTo(201);
  }

  private static List<Map<String, AttributeValue>> rows(String table, String tenant) {
    try (DynamoDbClient dynamo = deployment.inspect(DynamoDbClient.builder())) {
      return dynamo
          .queryPaginator(
              query ->
                  query
                      .tableName(table)
                      .keyConditionExpression("tenantId = :t")
                      .expressionAttributeValues(Map.of(":t", AttributeValue.fromS(tenant))))
          .items()
          .stream()
          .toList();
    }
  }

  /** One bronze subject may open fewer connections than its tenant. */
  @Test
  void one_token_holder_cannot_lock_out_a_tenant() throws Exception {
    deployment.onboard("small", "bronze", "{}");
    String greedy = token(claims("small").subject("mallory@example.com").expirationTime(in(900)));
    List<Handshake> sockets = new ArrayList<>();
    List<Answer> refused = new ArrayList<>();
    String session = "";
    for (int i = 0; i < 60; i++) {
      Answer answer = call("PUT", "?tenantId=small", greedy);
      if (answer.status() != 201) {
        refused.add(answer);
        continue;
      }
      session = answer.body().get("sessionId").asText();
      for (int j = 0; j < 3; j++) {
        Handshake socket = deployment.connect("small", session);
        if (socket.status() == 101) {
          sockets.add(socket);
        }
      }
    }

    assertThat(sockets).hasSize(4);
    assertThat(refused)
        .hasSize(58)
        .allSatisfy(
            answer -> {
              assertThat(answer.status()).isEqualTo(429);
              assertThat(answer.body().path("type").asText())
                  .isEqualTo("urn:tollgate:problem:subject-quota-exceeded");
              assertThat(answer.header("retry-after")).matches("[1-9][0-9]*");
            });
    for (int i = 0; i < 3; i++) {
      Handshake neighbour = deployment.connect("small", open("small"));
      assertThat(neighbour.status()).isEqualTo(101);
      sockets.add(neighbour);
    }
    assertThat(rows("TablesSession", "small").toString())
        .contains("subject:")
        .doesNotContain("mallory");
    // Programs that claim tokens may read every row of the tenant in the Limit table.
    assertThat(rows("TablesLimit", "small").toString()).doesNotContain(session);

    String query = Deployment.query("small", session);
    assertThat(call("DELETE", query, greedy).status()).isEqualTo(204);
    assertThat(call("PUT", "?tenantId=small", greedy).status()).isEqualTo(201);
    assertThat(call("PUT", "?tenantId=small", greedy).status()).isEqualTo(429);

    assertThat(deployment.control("DELETE", "/tenants/small").status()).isIn(202, 204);
    deployment.advance(Duration.ofMinutes(5));
    assertThat(rows("TablesLimit", "small")).isEmpty();
    assertThat(rows("TablesSession", "small")).isEmpty();
  }

  @Test
  void a_session_ends_with_its_token_unless_a_new_token_renews_it() throws Exception {
    JWTClaimsSet.Builder brief = claims("mine").expirationTime(in(90));
    Answer created = call("PUT", "?tenantId=mine", token(brief));
    Answer other = call("PUT", "?tenantId=mine", token(brief));
    assertThat(created.body().get("lastsUntil").asText())
        .isEqualTo(brief.build().getExpirationTime().toInstant().toString());
    String session = created.body().get("sessionId").asText();
    String renewed = other.body().get("sessionId").asText();
    Handshake ends = deployment.connect("mine", session);
    Handshake stays = deployment.connect("mine", renewed);
    JWTClaimsSet.Builder newer = claims("mine").expirationTime(in(600));

    deployment.advance(Duration.ofSeconds(60));
    ends.send("{\"action\":\"PooledSQS\",\"message\":1}");
    ends.frames().await("reply", 1);
    assertThat(call("PUT", Deployment.query("mine", session), token(brief)).status())
        .isEqualTo(200);
    Answer longer = call("PUT", Deployment.query("mine", renewed), token(newer));
    assertThat(longer.body().get("lastsUntil").asText())
        .isEqualTo(newer.build().getExpirationTime().toInstant().toString());
    deployment.advance(Duration.ofSeconds(31));

    assertThat(deployment.connect("mine", session).status()).isEqualTo(403);
    deployment.advance(Duration.ofMinutes(2));
    ends.closed().join();
    assertThat(stays.closed()).isNotDone();
    deployment.close(stays);
  }

  @Test
  void a_token_with_no_subject_gets_no_session() {
    Answer refused = call("PUT", "?tenantId=mine", token(claims("mine").subject(null)));

    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.body().path("type").asText())
        .isEqualTo("urn:tollgate:problem:unusable-token");
  }
}
