package dev.tollgate.controlplane.doctor;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Policies of the Credentials table. */
public final class TestPolicies {
  public static final String TABLE =
      "arn:aws:dynamodb:eu-central-1:000000000000:table/Tollgate-Credentials";
  public static final Set<String> ROLES =
      Set.of("arn:aws:iam::000000000000:role/A", "arn:aws:iam::000000000000:role/B");

  private TestPolicies() {}

  /** The policy that the stack deploys. */
  public static String deployed() {
    return policy(rows(CredentialsPolicyCheck.ROWS, ROLES), copies(CredentialsPolicyCheck.COPIES));
  }

  static String policy(String... statements) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[" + String.join(",", statements) + "]}";
  }

  static String rows(List<String> actions, Collection<String> roles) {
    return """
        {"Effect":"Deny","Principal":{"AWS":"*"},"Action":%s,"Resource":"*",
         "Condition":{"StringNotEquals":{"aws:PrincipalArn":%s}}}"""
        .formatted(actions(actions), list(roles.stream()));
  }

  static String copies(List<String> actions) {
    return """
        {"Effect":"Deny","Principal":{"AWS":"*"},"Action":%s,"Resource":"*"}"""
        .formatted(actions(actions));
  }

  private static String actions(List<String> actions) {
    return list(actions.stream().map(action -> "dynamodb:" + action));
  }

  private static String list(Stream<String> texts) {
    return texts.map(text -> '"' + text + '"').collect(Collectors.joining(",", "[", "]"));
  }
}
