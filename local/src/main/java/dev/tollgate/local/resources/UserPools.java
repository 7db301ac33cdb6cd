package dev.tollgate.local.resources;

import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.Locale;
import java.util.Map;

/**
 * Cognito user pools. A pool of the template has a name and an id, but no users and no sign-in.
 * Because it issues no tokens, a JWT authorizer for it admits every request, as {@code AWS_IAM}
 * does. An authorizer checks the tokens of every other issuer, including user pools outside the
 * template.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Cognito.html">AWS::Cognito</a>
 */
public final class UserPools implements ResourceFamily {
  /**
   * A user pool of the template, by its issuer URL.
   *
   * @param id the pool's id
   */
  public record UserPool(String id) {}

  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::Cognito::UserPool", UserPools::pool,
        "AWS::Cognito::UserPoolClient", UserPools::client,
        "AWS::Cognito::UserPoolDomain", UserPools::domain);
  }

  private static CreatedResource pool(String logicalName, Properties properties, Stack stack) {
    properties.ignore(
        "AccountRecoverySetting",
        "AdminCreateUserConfig",
        "AliasAttributes",
        "AutoVerifiedAttributes",
        "DeletionProtection",
        "EmailVerificationMessage",
        "EmailVerificationSubject",
        "EnabledMfas",
        "MfaConfiguration",
        "Policies",
        "SmsVerificationMessage",
        "UserPoolAddOns",
        "UserPoolName",
        "UserPoolTier",
        "UsernameAttributes",
        "UsernameConfiguration",
        "VerificationMessageTemplate");
    String region = stack.environment().region();
    String id = region + "_" + logicalName;
    String provider = "cognito-idp." + region + ".amazonaws.com/" + id;
    String issuer = "https://" + provider;
    stack.add(UserPool.class, issuer, new UserPool(id));
    return new CreatedResource(
        id,
        Map.of(
            "Arn", stack.environment().arn("cognito-idp", "userpool/" + id),
            "ProviderName", provider,
            "ProviderURL", issuer,
            "UserPoolId", id));
  }

  private static CreatedResource client(String logicalName, Properties properties, Stack stack) {
    properties.ignore(
        "AccessTokenValidity",
        "AllowedOAuthFlows",
        "AllowedOAuthFlowsUserPoolClient",
        "AllowedOAuthScopes",
        "CallbackURLs",
        "ClientName",
        "EnableTokenRevocation",
        "ExplicitAuthFlows",
        "GenerateSecret",
        "IdTokenValidity",
        "LogoutURLs",
        "PreventUserExistenceErrors",
        "RefreshTokenValidity",
        "SupportedIdentityProviders",
        "TokenValidityUnits",
        "UserPoolId");
    String id = logicalName.toLowerCase(Locale.ROOT);
    return new CreatedResource(id, Map.of("ClientId", id));
  }

  private static CreatedResource domain(String logicalName, Properties properties, Stack stack) {
    properties.ignore("ManagedLoginVersion", "UserPoolId");
    return CreatedResource.of(properties.text("Domain"));
  }
}
