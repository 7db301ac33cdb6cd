package dev.tollgate.infra;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.regex.Pattern;
import software.amazon.awscdk.Token;

/**
 * Who may create, see and end sessions. None of this is about handshakes: a session's id is a
 * secret, and all that these need.
 */
public sealed interface SessionAccess {

  /** Whoever knows a tenant's id. */
  record Open() implements SessionAccess {}

  /** Principals of the deployer's account, which sign their calls (AWS_IAM). */
  record Signed() implements SessionAccess {}

  /**
   * Whoever has a JSON Web Token that names the tenant. API Gateway checks it, without a function,
   * against the keys that the issuer publishes; the function only compares the tenant.
   *
   * @param issuer what claim {@code iss} must be, and where the issuer's keys are found: at {@code
   *     issuer/.well-known/openid-configuration}; an https URL, with or without a slash at its end,
   *     as the issuer writes it in its tokens
   * @param audiences one of these must be in claim {@code aud} (or be {@code client_id}, in tokens
   *     that have no {@code aud}); 1 to 50
   * @param tenantClaim the claim that holds the tenant's id, a text, such as {@code tenantId} or
   *     {@code custom:tenantId}
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html">JWT
   *     authorizers</a>
   */
  record Jwt(String issuer, List<String> audiences, String tenantClaim) implements SessionAccess {

    /** "Quotas for configuring and running an HTTP API": audiences per authorizer. */
    private static final int MOST_AUDIENCES = 50;

    /** SDK reference, "JWTConfiguration": UriWithLengthBetween1And2048. */
    private static final int LONGEST_ISSUER = 2_048;

    private static final Pattern AUDIENCE = Pattern.compile("\\S{1,2048}");
    private static final Pattern CLAIM = Pattern.compile("[!-~]{1,256}");

    /**
     * Refuses what no API can be made of. A value that only CloudFormation knows, such as the URL
     * of a user pool in the same app, is taken as it is.
     *
     * @throws IllegalArgumentException if one of them has another form
     */
    public Jwt {
      audiences = List.copyOf(audiences);
      if (!isIssuer(issuer)) {
        throw new IllegalArgumentException(
            "jwtIssuer: \""
                + issuer
                + "\" (expected: an https URL without query and fragment, as in the tokens' claim"
                + " iss)");
      }
      if (audiences.isEmpty() || audiences.size() > MOST_AUDIENCES) {
        throw new IllegalArgumentException(
            "jwtAudience: " + audiences + " (expected: 1 to " + MOST_AUDIENCES + " audiences)");
      }
      for (String audience : audiences) {
        if (!isUnresolved(audience) && !AUDIENCE.matcher(audience).matches()) {
          throw new IllegalArgumentException(
              "jwtAudience: \"" + audience + "\" (expected: a text without blanks)");
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
            && issuer.length() <= LONGEST_ISSUER;
      } catch (URISyntaxException e) {
        return false;
      }
    }

    private static boolean isUnresolved(String value) {
      return Boolean.TRUE.equals(Token.isUnresolved(value));
    }
  }
}
