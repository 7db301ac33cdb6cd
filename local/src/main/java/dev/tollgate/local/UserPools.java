package dev.tollgate.local;

import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The template's own Cognito user pools, of which nothing runs here: there is nobody to sign in,
 * and no page where one could. So a JWT authorizer whose tokens would be a pool's of this very
 * template lets everybody through, as {@code AWS_IAM} does; {@link ApiParts} asks here which these
 * are. A token of any other issuer is checked, one of a user pool of elsewhere included.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Cognito.html">AWS::Cognito</a>
 */
final class UserPools {
  private final Environment environment;
  private final Set<String> issuers = new HashSet<>();

  UserPools(Environment environment) {
    this.environment = environment;
  }

  Brought pool(String logicalName, Properties properties) {
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
    String id = environment.region() + "_" + logicalName;
    String provider = "cognito-idp." + environment.region() + ".amazonaws.com/" + id;
    String issuer = "https://" + provider;
    issuers.add(issuer);
    return new Brought(
        id,
        Map.of(
            "Arn", environment.arn("cognito-idp", "userpool/" + id),
            "ProviderName", provider,
            "ProviderURL", issuer,
            "UserPoolId", id));
  }

  Brought client(String logicalName, Properties properties) {
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
    return new Brought(id, Map.of("ClientId", id));
  }

  Brought domain(String logicalName, Properties properties) {
    properties.ignore("ManagedLoginVersion", "UserPoolId");
    return Brought.of(properties.text("Domain"));
  }

  /** Whether tokens of this issuer would be those of a pool of the template. */
  boolean issue(String issuer) {
    return issuers.contains(issuer);
  }
}
