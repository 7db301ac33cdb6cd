package dev.tollgate.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.FunctionPolicies;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * Brings up who may do what: roles with their policies, and the policies of queues and functions.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_IAM.html">AWS::IAM</a>
 */
final class AccessParts {
  private final Environment environment;
  private final SecurityTokens securityTokens;
  private final Policies policies;
  private final FunctionPolicies functionPolicies;
  private final ServiceClient client;

  AccessParts(
      Environment environment,
      SecurityTokens securityTokens,
      Policies policies,
      FunctionPolicies functionPolicies,
      ServiceClient client) {
    this.environment = environment;
    this.securityTokens = securityTokens;
    this.policies = policies;
    this.functionPolicies = functionPolicies;
    this.client = client;
  }

  /** What AWS's own managed policies would allow, a role is not allowed here. */
  Brought role(String logicalName, Properties properties) {
    String name = properties.optionalText("RoleName").orElse(logicalName);
    properties.ignore("Description", "ManagedPolicyArns", "MaxSessionDuration", "Tags");
    String arn = environment.globalArn("iam", "role/" + name);
    policies.addRole(arn, policy(properties, "AssumeRolePolicyDocument"));
    for (JsonNode inline :
        properties.json("Policies").orElse(JsonNodeFactory.instance.arrayNode())) {
      policies.attach(arn, Policy.of(inline.path("PolicyDocument"), properties.place()));
    }
    securityTokens.addRole(arn);
    return new Brought(name, Map.of("Arn", arn, "RoleId", "AROA" + name));
  }

  Brought policy(String logicalName, Properties properties) {
    String name = properties.optionalText("PolicyName").orElse(logicalName);
    Policy policy = policy(properties, "PolicyDocument");
    for (String role : properties.texts("Roles")) {
      policies.attach(environment.globalArn("iam", "role/" + role), policy);
    }
    return Brought.of(name);
  }

  Brought queuePolicy(String logicalName, Properties properties) {
    policy(properties, "PolicyDocument");
    String document = properties.json("PolicyDocument").orElseThrow().toString();
    for (String queue : properties.texts("Queues")) {
      ObjectNode request = JsonNodeFactory.instance.objectNode().put("QueueUrl", queue);
      request.putObject("Attributes").put("Policy", document);
      Answer answer = client.call("sqs", "AmazonSQS.SetQueueAttributes", request);
      if (!answer.succeeded()) {
        throw properties.error("Queues", answer.body().toString());
      }
    }
    return Brought.of(logicalName);
  }

  Brought permission(String logicalName, Properties properties) {
    String action = properties.text("Action");
    if (!action.equals("lambda:InvokeFunction")) {
      throw properties.error("Action", action + " (expected: lambda:InvokeFunction)");
    }
    functionPolicies.allow(
        properties.text("FunctionName"),
        properties.text("Principal"),
        properties.optionalText("SourceArn"));
    return Brought.of(logicalName);
  }

  private static Policy policy(Properties properties, String name) {
    return Policy.of(
        properties.json(name).orElseThrow(() -> properties.error(name, "absent")),
        properties.place() + "." + name);
  }
}
