package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Fn;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.HttpUserPoolAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.IHttpRouteAuthorizer;
import software.amazon.awscdk.services.cognito.AccountRecovery;
import software.amazon.awscdk.services.cognito.CognitoDomainOptions;
import software.amazon.awscdk.services.cognito.Mfa;
import software.amazon.awscdk.services.cognito.MfaSecondFactor;
import software.amazon.awscdk.services.cognito.OAuthFlows;
import software.amazon.awscdk.services.cognito.OAuthScope;
import software.amazon.awscdk.services.cognito.OAuthSettings;
import software.amazon.awscdk.services.cognito.PasswordPolicy;
import software.amazon.awscdk.services.cognito.SignInAliases;
import software.amazon.awscdk.services.cognito.UserPool;
import software.amazon.awscdk.services.cognito.UserPoolClient;
import software.amazon.awscdk.services.cognito.UserPoolClientIdentityProvider;
import software.amazon.awscdk.services.cognito.UserPoolClientOptions;
import software.amazon.awscdk.services.cognito.UserPoolDomain;
import software.amazon.awscdk.services.cognito.UserPoolDomainOptions;
import software.constructs.Construct;

/**
 * The sign-in of operators: a user pool, to which an administrator invites operators, its sign-in
 * pages, and the operator page as a public client. A public client has no secret; PKCE (RFC 7636)
 * ensures that only the page that started a sign-in can exchange its code for a token.
 *
 * <p>A one-time password is required, and the sign-in pages ask a new operator to enroll an
 * authenticator app. They do so only if the pool requires a second factor. Otherwise the operator
 * page would have to enroll it, with the scope {@code aws.cognito.signin.user.admin}, whose tokens
 * also change the operator's own attributes.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/cognito/latest/developerguide/user-pool-settings-mfa-totp.html">TOTP
 *     software token MFA</a>
 */
final class SignIn extends Construct {
  /**
   * Long enough for uninterrupted work, and short because a revoked token works until it expires.
   */
  private static final Duration TOKEN_LASTS = Duration.hours(1);

  private final UserPool pool;
  private final UserPoolClient client;
  private final UserPoolDomain domain;

  /**
   * Adds the sign-in.
   *
   * @param pageUrl the operator page, to which the sign-in returns
   */
  SignIn(Construct scope, TollgateProps props, String pageUrl) {
    super(scope, "SignIn");
    pool =
        UserPool.Builder.create(this, "Pool")
            .userPoolName(props.prefix() + "operators")
            .selfSignUpEnabled(false)
            .signInAliases(SignInAliases.builder().username(true).email(true).build())
            .signInCaseSensitive(false)
            .passwordPolicy(
                PasswordPolicy.builder()
                    .minLength(12)
                    .requireLowercase(true)
                    .requireUppercase(true)
                    .requireDigits(true)
                    .requireSymbols(true)
                    .tempPasswordValidity(Duration.days(3))
                    .build())
            // If it were optional, the sign-in pages would never offer to enroll.
            .mfa(Mfa.REQUIRED)
            .mfaSecondFactor(MfaSecondFactor.builder().otp(true).sms(false).build())
            .accountRecovery(AccountRecovery.EMAIL_ONLY)
            .removalPolicy(props.removalPolicy())
            .build();
    accept(
        "AwsSolutions-COG3",
        "Threat protection is charged per user and month. There are few operators, all invited by "
            + "name; the deployer can enable it in the pool.");
    client =
        pool.addClient(
            "Page",
            UserPoolClientOptions.builder()
                .generateSecret(false)
                .oAuth(
                    OAuthSettings.builder()
                        .flows(OAuthFlows.builder().authorizationCodeGrant(true).build())
                        .scopes(List.of(OAuthScope.OPENID))
                        .callbackUrls(List.of(pageUrl))
                        .logoutUrls(List.of(pageUrl))
                        .build())
                .supportedIdentityProviders(List.of(UserPoolClientIdentityProvider.COGNITO))
                .preventUserExistenceErrors(true)
                .accessTokenValidity(TOKEN_LASTS)
                .idTokenValidity(TOKEN_LASTS)
                .refreshTokenValidity(TOKEN_LASTS)
                .enableTokenRevocation(true)
                .build());
    domain =
        pool.addDomain(
            "Domain",
            UserPoolDomainOptions.builder()
                .cognitoDomain(CognitoDomainOptions.builder().domainPrefix(uniquePrefix()).build())
                .build());
  }

  /** A prefix that is unique in the Region across all accounts, as Cognito requires. */
  private static String uniquePrefix() {
    return Fn.join("-", List.of("tollgate", Policies.stackUuid()));
  }

  private void accept(String rule, String reason) {
    NagSuppressions.addResourceSuppressions(
        pool, List.of(NagPackSuppression.builder().id(rule).reason(reason).build()));
  }

  /** An authorizer that admits operators who have signed in. */
  IHttpRouteAuthorizer authorizer() {
    return HttpUserPoolAuthorizer.Builder.create("Operators", pool)
        .userPoolClients(List.of(client))
        .build();
  }

  /** The URL of the sign-in pages: {@code https://…}. */
  String domainUrl() {
    return domain.baseUrl();
  }

  /** The client id of the operator page. */
  String clientId() {
    return client.getUserPoolClientId();
  }

  /** The id of the pool. */
  String poolId() {
    return pool.getUserPoolId();
  }
}
