package dev.tollgate.controlplane.doctor;

import static dev.tollgate.controlplane.doctor.CredentialsPolicyCheck.COPIES;
import static dev.tollgate.controlplane.doctor.CredentialsPolicyCheck.ROWS;
import static dev.tollgate.controlplane.doctor.TestPolicies.ROLES;
import static dev.tollgate.controlplane.doctor.TestPolicies.TABLE;
import static dev.tollgate.controlplane.doctor.TestPolicies.copies;
import static dev.tollgate.controlplane.doctor.TestPolicies.deployed;
import static dev.tollgate.controlplane.doctor.TestPolicies.policy;
import static dev.tollgate.controlplane.doctor.TestPolicies.rows;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.core.testing.memory.InMemoryCredentialsPolicy;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CredentialsPolicyCheckTest {
  private static final String ROW_DENIAL = rows(ROWS, ROLES);
  private static final String COPY_DENIAL = copies(COPIES);
  private static final String NO_ROWS = "no denial of " + String.join(", ", ROWS);
  private static final String NO_COPIES = "no denial of " + String.join(", ", COPIES);
  private static final String NOTHING = NO_ROWS + ", " + String.join(", ", COPIES);
  private static final String OTHER = "arn:aws:iam::000000000000:user/other";
  private static final String OTHER_IN_ROWS = OTHER + " may " + String.join(", ", ROWS);

  private static List<Finding> check(Optional<String> document) {
    InMemoryCredentialsPolicy policy = new InMemoryCredentialsPolicy(TABLE, ROLES);
    policy.set(document);
    return new CredentialsPolicyCheck(policy).findings();
  }

  /** The first part of the detail: what the policy does not deny. */
  private static String differences(String document) {
    List<Finding> findings = check(Optional.of(document));
    assertThat(findings)
        .allSatisfy(finding -> assertThat(finding.deviation()).isEqualTo(Deviation.DIFFERS));
    return findings.stream()
        .map(finding -> finding.detail().replaceFirst(" \\(expected: .*\\)$", ""))
        .findFirst()
        .orElse("none");
  }

  @Test
  void the_deployed_policy_has_no_finding() {
    assertThat(check(Optional.of(deployed()))).isEmpty();
  }

  @Test
  void a_removed_policy_is_missing() {
    assertThat(check(Optional.empty()))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.deviation()).isEqualTo(Deviation.MISSING);
              assertThat(finding.name()).isEqualTo("Tollgate-Credentials");
              assertThat(finding.detail())
                  .isEqualTo(
                      "no policy (expected: rows denied to all principals but the deployment's 2"
                          + " roles, copies denied to everybody)");
            });
  }

  static Stream<String> actions() {
    return Stream.concat(ROWS.stream(), COPIES.stream());
  }

  @ParameterizedTest
  @MethodSource("actions")
  void each_action_must_be_denied(String action) {
    assertThat(
            differences(
                deployed()
                    .replaceFirst("\"dynamodb:" + action + "\",?", "\"a:b\",")
                    .replace(",]", "]")))
        .isEqualTo("no denial of " + action);
  }

  /** The same meaning in another text, or a policy that denies more. */
  static Stream<String> equivalents() {
    return Stream.of(
        deployed().replace("{\"AWS\":\"*\"}", "\"*\""),
        deployed().replace("{\"AWS\":\"*\"}", "{\"AWS\":[\"*\"]}"),
        deployed().replace("\"Resource\":\"*\"", "\"Resource\":[\"" + TABLE + "\"]"),
        deployed().replace("\"Resource\":\"*\"", "\"Resource\":\"" + TABLE + "*\""),
        deployed().replace("dynamodb:GetItem", "DynamoDB:getitem"),
        deployed().replace("\"Effect\"", "\"Sid\":\"1\",\"Effect\""),
        policy(COPY_DENIAL, ROW_DENIAL),
        policy(rows(List.of("*Item*", "PartiQL??????"), ROLES), copies(List.of("*"))),
        policy(rows(ROWS, List.of("arn:aws:iam::000000000000:role/A")), COPY_DENIAL),
        policy(copies(ROWS), COPY_DENIAL),
        policy(
            Stream.concat(
                    ROWS.stream().map(action -> rows(List.of(action), ROLES)),
                    COPIES.stream().map(action -> copies(List.of(action))))
                .toArray(String[]::new)),
        policy(ROW_DENIAL, COPY_DENIAL, copies(List.of("DeleteTable"))),
        policy(rows(ROWS, List.of(OTHER)), ROW_DENIAL, COPY_DENIAL),
        policy(ROW_DENIAL, COPY_DENIAL, ROW_DENIAL.replace("Deny", "Allow")),
        "{\"Statement\":" + copies(List.of("*")) + "}",
        deployed().replace("StringNotEquals", "StringNotEqualsIfExists"),
        deployed().replace("StringNotEquals", "ForAllValues:StringNotEquals"),
        deployed().replace("StringNotEquals", "StringNotLike"),
        deployed().replace("StringNotEquals", "ArnNotEquals"),
        deployed().replace("StringNotEquals", "ArnNotLikeIfExists"),
        deployed().replace("aws:PrincipalArn", "AWS:principalarn"),
        deployed().replace("\"Resource\"", "\"Condition\":{},\"Resource\""),
        deployed().replace("\"Resource\":\"*\"", "\"Resource\":\"arn:aws:dynamodb:*\""),
        deployed().replace("\"Resource\":\"*\"", "\"NotResource\":\"" + TABLE + "/index/*\""),
        policy(ROW_DENIAL, excluding("Describe*", "List*")),
        policy(ROW_DENIAL, COPY_DENIAL, ROW_DENIAL.replaceAll("\"String.*", ANY_ROLE)),
        policy(
            ROW_DENIAL,
            COPY_DENIAL,
            "{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\"}"));
  }

  /** A condition with a wildcard, which exempts more than the deployed one. */
  private static final String ANY_ROLE =
      "\"ArnNotLike\":{\"aws:PrincipalArn\":\"arn:aws:iam::000000000000:role/*\"}}}";

  private static String excluding(String... actions) {
    return copies(List.of(actions)).replace("\"Action\"", "\"NotAction\"");
  }

  @ParameterizedTest
  @MethodSource("equivalents")
  void a_policy_that_denies_the_same_or_more_has_no_finding(String document) {
    assertThat(differences(document)).isEqualTo("none");
  }

  private record Weakened(String fault, String document, String differences) {
    @Override
    public String toString() {
      return fault;
    }
  }

  private static Weakened rowsWith(String fault, String part, String replacement) {
    assertThat(ROW_DENIAL).contains(part);
    return new Weakened(fault, policy(ROW_DENIAL.replace(part, replacement), COPY_DENIAL), NO_ROWS);
  }

  private static Weakened copiesWith(String fault, String part, String replacement) {
    assertThat(COPY_DENIAL).contains(part);
    return new Weakened(
        fault, policy(ROW_DENIAL, COPY_DENIAL.replace(part, replacement)), NO_COPIES);
  }

  static final List<Weakened> WEAKENED =
      List.of(
          new Weakened("no statement", policy(), NOTHING),
          new Weakened("no JSON", "{", NOTHING),
          new Weakened("a list", "[]", NOTHING),
          new Weakened(
              "another principal",
              policy(rows(ROWS, Set.of("arn:aws:iam::000000000000:role/A", OTHER)), COPY_DENIAL),
              OTHER_IN_ROWS),
          new Weakened(
              "another principal for some rows",
              policy(ROW_DENIAL, COPY_DENIAL)
                  .replace("\"dynamodb:Query\",", "")
                  .replace("[{", "[" + rows(List.of("Query"), List.of(OTHER)) + ",{"),
              OTHER + " may Query"),
          new Weakened(
              "a role may copy",
              policy(ROW_DENIAL, rows(COPIES, List.of(OTHER))),
              OTHER + " may " + String.join(", ", COPIES)),
          rowsWith("allows rows", "Deny", "Allow"),
          rowsWith("lower-case effect", "Deny", "deny"),
          new Weakened(
              "a wildcard",
              policy(ROW_DENIAL.replaceAll("\"String.*", ANY_ROLE), COPY_DENIAL),
              "arn:aws:iam::000000000000:role/* may " + String.join(", ", ROWS)),
          new Weakened(
              "a wildcard and another role that it matches",
              policy(
                  ROW_DENIAL.replaceAll("\"String.*", ANY_ROLE),
                  rows(ROWS, List.of(OTHER.replace("user", "role"))),
                  COPY_DENIAL),
              OTHER_IN_ROWS.replace("user", "role")),
          new Weakened(
              "two wildcards that may match the same role",
              policy(
                  ROW_DENIAL.replaceAll("\"String.*", ANY_ROLE),
                  ROW_DENIAL.replaceAll("\"String.*", ANY_ROLE.replace("role/*", "*/x")),
                  COPY_DENIAL),
              "arn:aws:iam::000000000000:*/x may "
                  + String.join(", ", ROWS)
                  + "; arn:aws:iam::000000000000:role/* may "
                  + String.join(", ", ROWS)),
          new Weakened(
              "excluded actions that copy",
              policy(ROW_DENIAL, excluding("dynamodb:UpdateTable", "UpdateTable")),
              "no denial of UpdateTable"),
          rowsWith("any value", "StringNotEquals", "ForAnyValue:StringNotEquals"),
          rowsWith("other resources than this", "\"Resource\":\"*\"", "\"NotResource\":\"*\""),
          rowsWith(
              "a wildcard over the parts of an ARN",
              "\"Resource\":\"*\"",
              "\"Resource\":\"arn:*:table/Tollgate-Credentials\""),
          rowsWith("equals", "StringNotEquals", "StringEquals"),
          rowsWith("another key", "aws:PrincipalArn", "aws:userid"),
          rowsWith(
              "another operator",
              "\"Condition\":{",
              "\"Condition\":{\"Bool\":{\"aws:SecureTransport\":\"false\"},"),
          rowsWith(
              "a second key",
              "\"StringNotEquals\":{",
              "\"StringNotEquals\":{\"aws:SourceVpc\":\"vpc-1\","),
          rowsWith("a variable", "role/A\"", "role/A\",\"${aws:PrincipalArn}\""),
          rowsWith("a number", "role/A\"", "role/A\",1"),
          rowsWith("other actions", "\"Action\"", "\"NotAction\""),
          rowsWith("other principals", "\"Principal\"", "\"NotPrincipal\""),
          rowsWith("other resources", "\"Resource\"", "\"NotResource\""),
          rowsWith("excluded actions", "\"Effect\"", "\"NotAction\":[\"s3:*\"],\"Effect\""),
          rowsWith("one account", "\"AWS\":\"*\"", "\"AWS\":\"000000000000\""),
          rowsWith("services", "\"AWS\":\"*\"", "\"Service\":\"*\""),
          rowsWith("another table", "\"Resource\":\"*\"", "\"Resource\":\"" + TABLE + "2\""),
          rowsWith(
              "a table in lower case",
              "\"Resource\":\"*\"",
              "\"Resource\":\"" + TABLE.replace("Tollgate", "tollgate") + "\""),
          rowsWith("an index", "\"Resource\":\"*\"", "\"Resource\":\"" + TABLE + "/index/*\""),
          copiesWith("allows copies", "Deny", "Allow"),
          copiesWith("a number as action", "[", "[1,"),
          copiesWith(
              "a condition",
              "\"Resource\"",
              "\"Condition\":{\"Bool\":{\"aws:ViaAWSService\":\"false\"}},\"Resource\""),
          copiesWith("one principal", "\"AWS\":\"*\"", "\"AWS\":\"" + OTHER + "\""));

  @ParameterizedTest
  @FieldSource("WEAKENED")
  void a_weakened_policy_is_found(Weakened weakened) {
    assertThat(differences(weakened.document())).isEqualTo(weakened.differences());
  }

  /** Compared by backtracking, the resource would hold the report up until the function ends. */
  @Test
  @Timeout(value = 20, threadMode = ThreadMode.SEPARATE_THREAD)
  void a_resource_with_many_wildcards_holds_nothing_up() {
    String resource = "arn:aws:dynamodb:eu-central-1:000000000000:" + "*".repeat(60) + "#";

    assertThat(
            differences(
                policy(
                    ROW_DENIAL, COPY_DENIAL.replace("Resource\":\"*", "Resource\":\"" + resource))))
        .isEqualTo(NO_COPIES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "dynamodb:Get*", "dynamodb:GetIte?"})
  void a_wildcard_in_an_exception_is_no_role(String wildcard) {
    assertThat(differences(policy(rows(ROWS, List.of(wildcard)), COPY_DENIAL)))
        .startsWith(wildcard + " may ");
  }
}
