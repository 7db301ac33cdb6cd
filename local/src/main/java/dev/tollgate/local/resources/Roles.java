package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * IAM roles and their policies. The managed policies of AWS are ignored: they allow a role nothing
 * here.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_IAM.html">AWS::IAM</a>
 */
public final class Roles implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::IAM::Policy", Roles::policy, "AWS::IAM::Role", Roles::role);
  }

  private static CreatedResource role(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("RoleName").orElse(logicalName);
    properties.ignore("Description", "ManagedPolicyArns", "MaxSessionDuration", "Tags");
    String arn = stack.environment().globalArn("iam", "role/" + name);
    Policies policies = stack.service(Policies.class);
    policies.addRole(arn, Policy.of(properties, "AssumeRolePolicyDocument"));
    for (JsonNode inline : properties.json("Policies").orElse(Json.array())) {
      policies.attach(arn, Policy.of(inline.path("PolicyDocument"), properties.place()));
    }
    stack.service(SecurityTokens.class).addRole(arn);
    return new CreatedResource(name, Map.of("Arn", arn, "RoleId", "AROA" + name));
  }

  private static CreatedResource policy(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("PolicyName").orElse(logicalName);
    Policy policy = Policy.of(properties, "PolicyDocument");
    for (String role : properties.texts("Roles")) {
      stack
          .service(Policies.class)
          .attach(stack.environment().globalArn("iam", "role/" + role), policy);
    }
    return CreatedResource.of(name);
  }
}
