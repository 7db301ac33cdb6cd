package dev.tollgate.cli.http;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;

/**
 * Signs requests with Signature Version 4: to an API whose authorizer is {@code AWS_IAM}, with the
 * service name {@code execute-api} (API Gateway developer guide, "Invoke an API"), or to a service
 * of AWS.
 */
public final class RequestSigner {
  private static final Pattern AWS_HOST =
      Pattern.compile("[^.]+\\.execute-api\\.([a-z0-9-]+)\\.amazonaws\\.com(\\.cn)?");

  private final AwsCredentialsProvider credentials;
  private final String service;
  private final String region;
  private final Clock clock;

  RequestSigner(AwsCredentialsProvider credentials, String region, Clock clock) {
    this(credentials, "execute-api", region, clock);
  }

  private RequestSigner(
      AwsCredentialsProvider credentials, String service, String region, Clock clock) {
    this.credentials = credentials;
    this.service = service;
    this.region = region;
    this.clock = clock;
  }

  /**
   * The signer for a service of AWS.
   *
   * @param service the service's name in signatures, such as {@code logs}
   */
  public static RequestSigner forService(
      String service, String region, AwsCredentialsProvider credentials) {
    return new RequestSigner(credentials, service, region, Clock.systemUTC());
  }

  /**
   * The signer for an API; empty for the local cloud, whose URLs are not https. Every API on AWS is
   * signed, also one with a custom domain name: the signature covers host and path as the client
   * sends them, and the service name stays {@code execute-api}.
   *
   * @param region the API's Region; by default the Region in the host name, else the default Region
   * @param profile replaces {@code AWS_PROFILE}
   * @throws Failure if the Region is unknown
   */
  public static Optional<RequestSigner> forApi(
      URI api, Optional<String> region, Optional<String> profile) {
    if (!signs(api)) {
      return Optional.empty();
    }
    String signed = region(api, region, profile);
    return Optional.of(new RequestSigner(credentials(profile), signed, Clock.systemUTC()));
  }

  /**
   * The default credentials.
   *
   * @param profile replaces {@code AWS_PROFILE}
   */
  public static AwsCredentialsProvider credentials(Optional<String> profile) {
    // In the default chain, keys in the environment would replace those of a profile that is named.
    return profile
        .<AwsCredentialsProvider>map(ProfileCredentialsProvider::create)
        .orElseGet(() -> DefaultCredentialsProvider.builder().build());
  }

  /** Whether requests to an API are signed: it is on AWS, not in a local cloud. */
  public static boolean signs(URI api) {
    return "https".equalsIgnoreCase(api.getScheme());
  }

  /**
   * The Region of an API on AWS; the parameters are those of {@link #forApi}.
   *
   * @throws Failure if it is unknown
   */
  public static String region(URI api, Optional<String> region, Optional<String> profile) {
    String host = Optional.ofNullable(api.getHost()).orElse("");
    Matcher inHost = AWS_HOST.matcher(host);
    return region
        .or(() -> inHost.matches() ? Optional.of(inHost.group(1)) : defaultRegion(profile))
        .orElseThrow(
            () ->
                Failure.usage(
                    "Cannot sign requests to "
                        + host
                        + ": its AWS Region is unknown. Use --region, or set AWS_REGION."));
  }

  /**
   * The Region of the option, or else of the environment, or else of the profile.
   *
   * @throws Failure if it is unknown
   */
  public static String defaultRegion(Optional<String> option, Optional<String> profile) {
    return option
        .or(() -> defaultRegion(profile))
        .orElseThrow(
            () -> Failure.usage("The AWS Region is unknown. Use --region, or set AWS_REGION."));
  }

  /** The Region in the environment or the profile. The instance metadata service is not asked. */
  private static Optional<String> defaultRegion(Optional<String> profile) {
    AwsRegionProvider ofProfile =
        profile
            .map(name -> new AwsProfileRegionProvider(ProfileFile::defaultProfileFile, name))
            .orElseGet(AwsProfileRegionProvider::new);
    try {
      return Optional.of(
          new AwsRegionProviderChain(new SystemSettingsRegionProvider(), ofProfile)
              .getRegion()
              .id());
    } catch (SdkClientException e) {
      return Optional.empty();
    }
  }

  /**
   * The headers that carry the signature.
   *
   * @throws Failure if there are no credentials
   */
  Map<String, String> sign(String method, URI uri, byte[] body) {
    return sign(method, uri, body, Map.of());
  }

  /**
   * The headers that carry the signature, and the headers that it covers.
   *
   * @param headers the request's other headers; those of AWS must be signed
   */
  Map<String, String> sign(String method, URI uri, byte[] body, Map<String, String> headers) {
    var unsigned = SdkHttpRequest.builder().method(SdkHttpMethod.fromValue(method)).uri(uri);
    headers.forEach(
        (name, value) -> {
          if (name.startsWith("X-Amz-")) {
            unsigned.putHeader(name, value);
          }
        });
    var request = unsigned.build();
    var signed =
        AwsV4HttpSigner.create()
            .sign(
                parameters ->
                    parameters
                        .identity(resolveCredentials())
                        .request(request)
                        .payload(() -> new ByteArrayInputStream(body))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, service)
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                        .putProperty(HttpSigner.SIGNING_CLOCK, clock));
    Map<String, String> all = new LinkedHashMap<>();
    signed.request().forEachHeader((name, values) -> all.put(name, values.get(0)));
    // java.net.http sets Host itself, with the same value, and does not allow it to be set.
    all.keySet().removeIf("Host"::equalsIgnoreCase);
    return all;
  }

  private AwsCredentials resolveCredentials() {
    try {
      return credentials.resolveCredentials();
    } catch (SdkClientException e) {
      throw Failure.of(
          "No AWS credentials to sign the request with. Sign in with `aws sso login` or"
              + " `aws configure`, or choose a profile with --profile. To check the credentials, run"
              + " `aws sts get-caller-identity`.",
          e);
    }
  }
}
