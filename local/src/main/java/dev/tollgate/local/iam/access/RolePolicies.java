package dev.tollgate.local.iam.access;

import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.QueryProtocol;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.TemplateException;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * IAM with the operations that revoke the active sessions of a role: an inline policy denies all
 * that was issued before an instant. It applies from the answer on; on AWS, after some seconds.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_revoke-sessions.html">Revoke
 *     IAM role temporary security credentials</a>
 */
public final class RolePolicies implements HttpHandler {
  private final Policies policies;
  private final Environment environment;

  /**
   * @param policies has the roles, and receives and enforces their policies
   */
  public RolePolicies(Policies policies, Environment environment) {
    this.policies = policies;
    this.environment = environment;
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    try {
      Call call = Call.of(exchange);
      String xml =
          "<%1$sResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\">%2$s<ResponseMetadata><RequestId>%3$s</RequestId></ResponseMetadata></%1$sResponse>"
              .formatted(call.operation(), answer(call), UUID.randomUUID());
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/xml");
      exchange.getResponseSender().send(xml);
    } catch (ApiException e) {
      // IAM answers only in XML, even to a GET, whose action is in the query.
      e.sendXml(exchange);
    }
  }

  private String answer(Call call) {
    return switch (call.operation()) {
      case "ListRoles" ->
          policies.roles().stream()
              .map(arn -> arn.substring(arn.lastIndexOf('/') + 1))
              .sorted()
              .map(QueryProtocol::escape)
              .collect(
                  Collectors.joining(
                      "</RoleName></member><member><RoleName>",
                      "<ListRolesResult><IsTruncated>false</IsTruncated><Roles><member><RoleName>",
                      "</RoleName></member></Roles></ListRolesResult>"));
      case "PutRolePolicy" ->
          set(call.form(), Optional.of(policy(call.form().getOrDefault("PolicyDocument", ""))));
      case "DeleteRolePolicy" -> set(call.form(), Optional.empty());
      default ->
          throw new ApiException(
              400,
              "InvalidAction",
              "action: "
                  + call.operation()
                  + " (expected: ListRoles, PutRolePolicy or DeleteRolePolicy)");
    };
  }

  private String set(Map<String, String> form, Optional<Policy> policy) {
    String role = form.getOrDefault("RoleName", "");
    String name = form.getOrDefault("PolicyName", "");
    if (!policies.setInlinePolicy(environment.globalArn("iam", "role/" + role), name, policy)) {
      throw new ApiException(
          404, "NoSuchEntity", "There is no role " + role + " with policy " + name + ".");
    }
    return "";
  }

  private static Policy policy(String text) {
    try {
      return Policy.of(Json.readOrMissing(text), "PolicyDocument");
    } catch (TemplateException unsupported) {
      throw new ApiException(
          400, "MalformedPolicyDocument", String.valueOf(unsupported.getMessage()));
    }
  }
}
