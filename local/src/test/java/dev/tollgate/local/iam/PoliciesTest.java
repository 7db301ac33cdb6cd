package dev.tollgate.local.iam;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.TemplateException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PoliciesTest {
  private static final String ROLE = "arn:aws:iam::000000000000:role/Worker";
  private static final String TENANT_ROLE = "arn:aws:iam::000000000000:role/OfTenant";
  private static final String SQS = "arn:aws:sqs:us-east-1:000000000000:";
  private static final String TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/Limit";

  private final Map<String, Policy> ofResources = new HashMap<>();
  private final Policies policies =
      new Policies(true, resource -> Optional.ofNullable(ofResources.get(resource)));

  @Test
  void without_a_policy_nothing_is_allowed() {
    policies.addRole(ROLE, trusting("lambda.amazonaws.com"));

    assertThat(denial(Access.to("sqs:SendMessage", SQS + "a")))
        .contains(
            "User: arn:aws:sts::000000000000:assumed-role/Worker/function is not authorized to"
                + " perform: sqs:SendMessage on resource: "
                + SQS
                + "a because no identity-based policy allows the sqs:SendMessage action");
    assertThat(policies.denied()).isEqualTo(1);
  }

  @Test
  void revoked_sessions_are_denied_and_later_ones_are_not() {
    Instant revoked = Instant.parse("2026-11-27T12:00:00Z");
    worker(statement("Allow", "sqs:*", "*", ""));
    Policy deny =
        Policy.of(
            Json.readOrMissing(
                """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": ["*"],
                  "Resource": ["*"],
                  "Condition": {"DateLessThan": {"aws:TokenIssueTime": "2026-11-27T12:00:00Z"}}}]}"""),
            "test");
    Access access = Access.to("sqs:SendMessage", SQS + "a");

    assertThat(policies.setInlinePolicy(ROLE, "revoked", Optional.of(deny))).isTrue();

    assertThat(policies.denial(issued(revoked.minusSeconds(1)), access)).isPresent();
    assertThat(policies.denial(issued(revoked), access)).isEmpty();
    assertThat(policies.denial(Principal.of("function", ROLE), access))
        .as("credentials without a time of issue")
        .isEmpty();

    assertThat(policies.setInlinePolicy(ROLE, "revoked", Optional.empty())).isTrue();
    assertThat(policies.denial(issued(revoked.minusSeconds(1)), access)).isEmpty();
    assertThat(policies.setInlinePolicy(ROLE, "revoked", Optional.empty())).isFalse();
    assertThat(policies.setInlinePolicy(ROLE + "2", "revoked", Optional.of(deny))).isFalse();
  }

  private static Principal issued(Instant at) {
    return new Principal("function", ROLE, Map.of(), Optional.of(at));
  }

  @Test
  void a_time_in_a_condition_is_checked_when_it_is_read() {
    String condition = ", \"Condition\": {\"DateLessThan\": {\"aws:TokenIssueTime\": \"noon\"}}";

    assertThatThrownBy(() -> worker(statement("Deny", "*", "*", condition)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("noon");
  }

  @Test
  void a_role_that_does_not_exist_may_do_nothing() {
    assertThat(denial(Access.to("sqs:SendMessage", SQS + "a"))).isPresent();
  }

  @ParameterizedTest
  @CsvSource({
    "sqs:SendMessage, sqs:SendMessage, true",
    "sqs:SendMessage, SQS:sendmessage, true",
    "sqs:Send*, sqs:SendMessage, true",
    "sqs:SendMessag?, sqs:SendMessage, true",
    "*, dynamodb:Scan, true",
    "sqs:*, dynamodb:Scan, false",
    "sqs:SendMessage, sqs:SendMessages, false",
    "sqs:SendMessage?, sqs:SendMessage, false",
  })
  void actions_are_matched(String pattern, String action, boolean allowed) {
    worker(statement("Allow", pattern, "*", ""));

    assertThat(denial(Access.to(action, SQS + "a")).isEmpty()).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource({
    "connect_acme_token_bucket, connect_acme_token_bucket, true",
    "*_acme_token_bucket, connect_acme_token_bucket, true",
    "*_acme_token_bucket, connect_acme2_token_bucket, false",
    "*_acme_token_bucket, connect_acme-2_token_bucket, false",
    "*_acme_token_bucket, connect_b-acme_token_bucket, false",
    "silo_*.fifo, silo_acme.fifo, true",
    "silo_*.fifo, silo_acme_dead.fifo, true",
    "a?c, abc, true",
    "a?c, ac, false",
    "*a*b, xaxbab, true",
    "*a*b, xaxba, false",
  })
  void resources_are_matched(String pattern, String queue, boolean allowed) {
    worker(statement("Allow", "sqs:SendMessage", SQS + pattern, ""));

    assertThat(denial(Access.to("sqs:SendMessage", SQS + queue)).isEmpty()).isEqualTo(allowed);
  }

  @Test
  void a_star_does_not_reach_over_a_colon() {
    worker(statement("Allow", "sqs:SendMessage", "arn:aws:sqs:*:a", ""));

    assertThat(denial(Access.to("sqs:SendMessage", SQS + "a"))).isPresent();
  }

  @Test
  void a_deny_outweighs_every_allow() {
    worker(
        statement("Allow", "sqs:*", "*", ""),
        statement("Deny", "sqs:DeleteQueue", SQS + "kept", ""));

    assertThat(denial(Access.to("sqs:DeleteQueue", SQS + "other"))).isEmpty();
    assertThat(denial(Access.to("sqs:DeleteQueue", SQS + "kept")))
        .asString()
        .contains("with an explicit deny in an identity-based policy");
  }

  @Test
  void the_policy_of_a_resource_denies_whom_it_names() {
    worker(statement("Allow", "sqs:*", "*", ""));
    ofResources.put(
        SQS + "closed",
        policy(
            "{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"sqs:SendMessage\","
                + "\"Resource\":\"*\"}"));
    ofResources.put(
        SQS + "tls",
        policy(
            "{\"Effect\":\"Deny\",\"Principal\":{\"AWS\":\"*\"},\"Action\":\"sqs:*\","
                + "\"Resource\":\"*\",\"Condition\":{\"Bool\":{\"aws:SecureTransport\":\"false\"}}}"));

    assertThat(denial(Access.to("sqs:SendMessage", SQS + "closed")))
        .asString()
        .contains("with an explicit deny in a resource-based policy");
    assertThat(denial(Access.to("sqs:ReceiveMessage", SQS + "closed"))).isEmpty();
    assertThat(denial(Access.to("sqs:SendMessage", SQS + "tls"))).isEmpty();
  }

  @Test
  void a_variable_is_the_tag_of_the_session_and_nothing_without_one() {
    policies.addRole(TENANT_ROLE, trusting("lambda.amazonaws.com"));
    policies.attach(
        TENANT_ROLE,
        policy(
            statement("Allow", "sqs:*", SQS + "*_${aws:PrincipalTag/tenantId}_token_bucket", "")));

    Access bucket = Access.to("sqs:ReceiveMessage", SQS + "connect_acme_token_bucket");
    assertThat(policies.denial(of("acme"), bucket)).isEmpty();
    assertThat(policies.denial(of("acme2"), bucket)).isPresent();
    assertThat(policies.denial(of("*"), bucket)).isPresent();
    assertThat(policies.denial(Principal.of("function", TENANT_ROLE), bucket)).isPresent();
  }

  @Test
  void all_leading_keys_must_be_the_tenant_s_and_there_must_be_one() {
    policies.addRole(TENANT_ROLE, trusting("lambda.amazonaws.com"));
    policies.attach(
        TENANT_ROLE,
        policy(
            statement(
                "Allow",
                "dynamodb:*",
                TABLE,
                ",\"Condition\":{\"ForAllValues:StringEquals\":{\"dynamodb:LeadingKeys\":"
                    + "\"${aws:PrincipalTag/tenantId}\"},"
                    + "\"Null\":{\"dynamodb:LeadingKeys\":\"false\"}}")));

    assertThat(policies.denial(of("acme"), keys("acme"))).isEmpty();
    assertThat(policies.denial(of("acme"), keys("acme", "acme"))).isEmpty();
    assertThat(policies.denial(of("acme"), keys("acme", "acme2"))).isPresent();
    assertThat(policies.denial(of("acme"), keys())).isPresent();
    assertThat(policies.denial(of("acm*"), keys("acme"))).isPresent();
  }

  @Test
  void a_role_is_assumed_by_whom_both_its_policy_and_their_own_allow() {
    worker(statement("Allow", "\"sts:AssumeRole\",\"sts:TagSession\"", TENANT_ROLE, ""));
    policies.addRole(
        TENANT_ROLE,
        policy(
            "{\"Effect\":\"Allow\",\"Action\":[\"sts:AssumeRole\",\"sts:TagSession\"],"
                + "\"Principal\":{\"AWS\":\""
                + ROLE
                + "\"},\"Condition\":{\"StringLike\":{\"aws:RequestTag/tenantId\":\"?*\"},"
                + "\"ForAllValues:StringEquals\":{\"aws:TagKeys\":\"tenantId\"}}}"));

    assertThat(denial(assuming("tenantId", "acme"))).isEmpty();
    assertThat(denial(assuming("tenantId", ""))).isPresent();
    assertThat(denial(assuming("other", "acme"))).isPresent();
    assertThat(denial(Access.to("sts:AssumeRole", TENANT_ROLE)))
        .asString()
        .contains("because no trust policy allows the sts:AssumeRole action");
    String stranger = "arn:aws:iam::000000000000:role/Stranger";
    policies.addRole(stranger, trusting("lambda.amazonaws.com"));
    policies.attach(stranger, policy(statement("Allow", "sts:*", "*", "")));
    assertThat(policies.denial(Principal.of("function", stranger), assuming("tenantId", "acme")))
        .isPresent();
  }

  @ParameterizedTest
  @CsvSource({"000000000000, true", "111111111111, false"})
  void a_role_that_trusts_an_account_is_assumed_by_its_principals(String account, boolean trusted) {
    worker(statement("Allow", "sts:AssumeRole", TENANT_ROLE, ""));
    policies.addRole(
        TENANT_ROLE,
        policy(
            "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Principal\":{\"AWS\":"
                + "\"arn:aws:iam::"
                + account
                + ":root\"}}"));
    assertThat(denial(Access.to("sts:AssumeRole", TENANT_ROLE)).isEmpty()).isEqualTo(trusted);
  }

  @Test
  void a_deny_in_a_trust_policy_outweighs_what_is_allowed() {
    worker(statement("Allow", "sts:AssumeRole", TENANT_ROLE, ""));
    String allowed =
        "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Principal\":{\"AWS\":\""
            + ROLE
            + "\",\"Service\":\"lambda.amazonaws.com\"}}";
    String denied =
        "{\"Effect\":\"Deny\",\"Action\":\"sts:AssumeRole\",\"Principal\":\"*\","
            + "\"Condition\":{\"StringNotEquals\":{\"aws:RequestTag/tenantId\":\"acme\"}}}";
    policies.addRole(TENANT_ROLE, policy(allowed, denied));

    assertThat(denial(assuming("tenantId", "acme"))).isEmpty();
    assertThat(denial(assuming("tenantId", "other"))).isPresent();
    assertThat(policies.trusts(TENANT_ROLE, "lambda.amazonaws.com", Context.EMPTY)).isFalse();
  }

  @Test
  void a_service_assumes_a_role_that_trusts_it_in_these_circumstances() {
    policies.addRole(
        ROLE,
        policy(
            "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Principal\":{\"Service\":"
                + "\"scheduler.amazonaws.com\"},\"Condition\":{\"StringEquals\":"
                + "{\"aws:SourceArn\":\"group\"}}}"));
    var scheduler = "scheduler.amazonaws.com";

    assertThat(policies.trusts(ROLE, scheduler, Context.EMPTY.with("aws:SourceArn", "group")))
        .isTrue();
    assertThat(policies.trusts(ROLE, scheduler, Context.EMPTY.with("aws:SourceArn", "other")))
        .isFalse();
    assertThat(policies.trusts(ROLE, scheduler, Context.EMPTY)).isFalse();
    assertThat(
            policies.trusts(
                ROLE, "lambda.amazonaws.com", Context.EMPTY.with("aws:SourceArn", "group")))
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "StringEquals, a, true",
    "StringEquals, b, false",
    "StringNotEquals, b, true",
    "StringNotEquals, a, false",
    "StringLike, ?, true",
    "StringEquals, *, false",
    "StringLikeIfExists, b, false",
    "ForAnyValue:StringEquals, a, true",
    "ForAnyValue:StringEquals, b, false",
    "ArnLike, *, true",
    "Null, false, true",
    "Null, true, false",
  })
  void conditions_compare(String operator, String expected, boolean holds) {
    Condition condition = Condition.of(operator, "aws:SourceArn", List.of(expected), "here");

    assertThat(condition.holds(Context.EMPTY.with("AWS:sourcearn", "a"))).isEqualTo(holds);
  }

  @ParameterizedTest
  @CsvSource({
    "StringEquals, false",
    "StringNotEquals, true",
    "StringEqualsIfExists, true",
    "ForAllValues:StringEquals, true",
    "ForAnyValue:StringEquals, false",
    "ForAnyValue:StringNotEquals, false",
    "ForAnyValue:StringEqualsIfExists, false",
    "ForAllValues:StringNotEquals, true",
  })
  void a_key_without_a_value(String operator, boolean holds) {
    assertThat(Condition.of(operator, "aws:SourceArn", List.of("a"), "here").holds(Context.EMPTY))
        .isEqualTo(holds);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"Effect\":\"Allow\",\"NotAction\":\"sqs:*\",\"Resource\":\"*\"}",
        "{\"Effect\":\"Grant\",\"Action\":\"sqs:*\",\"Resource\":\"*\"}",
        "{\"Effect\":\"Allow\",\"Action\":\"sqs:*\",\"Resource\":\"*\","
            + "\"Condition\":{\"DateLessThan\":{\"aws:SourceArn\":\"x\"}}}",
        "{\"Effect\":\"Allow\",\"Action\":\"sqs:*\",\"Resource\":\"*\","
            + "\"Condition\":{\"StringEquals\":{\"dynamodb:LeadingKey\":\"x\"}}}",
        "{\"Effect\":\"Deny\",\"Principal\":{\"Federated\":\"x\"},\"Action\":\"sqs:*\"}",
      })
  void what_is_not_known_here_is_an_error(String statement) {
    assertThatThrownBy(() -> policy(statement))
        .isInstanceOf(TemplateException.class)
        .hasMessageStartingWith("here: ");
  }

  @Test
  void the_grant_that_allowed_an_access_is_counted() {
    worker(
        statement("Allow", "\"sqs:SendMessage\",\"sqs:DeleteMessage\"", SQS + "a", ""),
        statement("Deny", "sqs:SendMessage", SQS + "b", ""));
    denial(Access.to("sqs:SendMessage", SQS + "a"));
    denial(Access.to("sqs:SendMessage", SQS + "a"));
    denial(Access.to("sqs:SendMessage", SQS + "b"));

    assertThat(policies.uses())
        .isEqualTo(
            Map.of(
                new Grant("Worker", "sqs:SendMessage", SQS + "a"), 2L,
                new Grant("Worker", "sqs:DeleteMessage", SQS + "a"), 0L));
    assertThat(policies.allowed()).isEqualTo(2);
  }

  private Optional<String> denial(Access access) {
    return policies.denial(Principal.of("function", ROLE), access);
  }

  private void worker(String... statements) {
    policies.addRole(ROLE, trusting("lambda.amazonaws.com"));
    policies.attach(ROLE, policy(statements));
  }

  private static Principal of(String tenant) {
    return new Principal("function", TENANT_ROLE, Map.of("tenantId", tenant));
  }

  private static Access keys(String... tenants) {
    return new Access(
        "dynamodb:GetItem", TABLE, Context.EMPTY.with("dynamodb:LeadingKeys", List.of(tenants)));
  }

  private static Access assuming(String tag, String value) {
    return new Access(
        "sts:AssumeRole",
        TENANT_ROLE,
        Context.EMPTY.with("aws:RequestTag/" + tag, value).with("aws:TagKeys", tag));
  }

  private static Policy trusting(String service) {
    return policy(
        "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Principal\":{\"Service\":\""
            + service
            + "\"}}");
  }

  /** A statement whose action may be several, each in quotes. */
  private static String statement(String effect, String action, String resource, String more) {
    return "{\"Effect\":\"%s\",\"Action\":[%s],\"Resource\":\"%s\"%s}"
        .formatted(effect, action.startsWith("\"") ? action : "\"" + action + "\"", resource, more);
  }

  private static Policy policy(String... statements) {
    return Policy.of(
        Json.readOrMissing(
            "{\"Version\":\"2012-10-17\",\"Statement\":[" + String.join(",", statements) + "]}"),
        "here");
  }
}
