package dev.tollgate.infra;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.regex.Pattern;
import software.amazon.awscdk.Token;

/**
 * Who may create, show and end sessions. Handshakes are not affected: they only need a session's
 * id, which is a secret.
 */
public sealed interface SessionAccess {

  /** Every caller who knows a tenant's id. */
  record Open() implements SessionAccess {}

  /** Principals of the deployer's account, with signed requests (AWS_IAM). */
  record Signed() implements SessionAccess {}

  /**
   * Every caller with a JSON Web Token for the tenant. API Gateway checks the token against the
   * keys that the issuer publishes; the function only compares the tenant.
   *
   * @param issuer the required value of claim {@code iss}: an https URL exactly as in the tokens,
   *     with or without a trailing slash. The issuer's keys are found through {@code
   *     issuer/.well-known/openid-configuration}. API Gateway reads it over the internet, and
   *     refuses to create the authorizer if it cannot
   * @param audiences the accepted values of claim {@code aud}, or of {@code client_id} in tokens
   *     without {@code aud}; 1 to 50
   * @param tenantClaim the claim with the tenant's id as a string, such as {@code tenantId} or
   *     {@code custom:tenantId}
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html">JWT
   *     authorizers</a>
   */
  record Jwt(String issuer, List<String> audiences, String tenantClaim) implements SessionAccess {

    /** "Quotas for configuring and running an HTTP API": audiences per authorizer. */
    private static final int MAX_AUDIENCES = 50;

    /** SDK reference, "JWTConfiguration": UriWithLengthBetween1And2048. */
    private static final int MAX_ISSUER_LENGTH = 2_048;

    private static final Pattern AUDIENCE = Pattern.compile("\\S{1,2048}");
    private static final Pattern CLAIM = Pattern.compile("[!-~]{1,256}");

    /**
     * Checks the values. A value that only CloudFormation knows, such as the URL of a user pool in
     * the same app, is not checked.
     *
     * @throws IllegalArgumentException if a value is malformed
     */
    public Jwt {
      audiences = List.copyOf(audiences);
      if (!isIssuer(issuer)) {
        throw new IllegalArgumentException(
            "jwtIssuer: \""
                + issuer
                + "\" (expected: an https URL without query and fragment, as in the tokens' claim"
                + " iss, that AWS can reach during the deployment)");
      }
      if (audiences.isEmpty() || audiences.size() > MAX_AUDIENCES) {
        throw new IllegalArgumentException(
            "jwtAudience: " + audiences + " (expected: 1 to " + MAX_AUDIENCES + " audiences)");
      }
      for (String audience : audiences) {
        if (!isUnresolved(audience) && !AUDIENCE.matcher(audience).matches()) {
          throw new IllegalArgumentException(
              "jwtAudience: \"" + audience + "\" (expected: a string without blanks)");
        }
      }
      if (!CLAIM.matcher(tenantClaim).matches()) {
        throw new IllegalArgumentException(
            "jwtTenantClaim: \""
                + tenantClaim
                + "\" (expected: the name of a claim, such as tenantId or custom:tenantId)");
      }
    }

    private static boolean isIssuer(String issuer) {
      if (isUnresolved(issuer)) {
        return true;
      }
      try {
        URI uri = new URI(issuer);
        return "https".equals(uri.getScheme())
            && uri.getHost() != null
            && uri.getRawUserInfo() == null
            && uri.getRawQuery() == null
            && uri.getRawFragment() == null
            && issuer.length() <= MAX_ISSUER_LENGTH;
      } catch (URISyntaxException e) {
        return false;
      }
    }

    private static boolean isUnresolved(String value) {
      return Boolean.TRUE.equals(Token.isUnresolved(value));
    }
  }
}
