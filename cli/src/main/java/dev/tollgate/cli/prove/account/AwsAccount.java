package dev.tollgate.cli.prove.account;

import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;

/** An account behind the HTTP APIs of AWS, or of a local cloud. */
public final class AwsAccount implements Account {
  /** The address of a service in a Region. */
  @FunctionalInterface
  public interface Endpoints {
    URI of(String service, String region);
  }

  private static final String STS_VERSION = "2011-06-15";
  private static final String IAM_VERSION = "2010-05-08";
  private static final String IAM = "us-east-1";
  private static final String IAM_OF_CHINA = "cn-north-1";
  private static final String IAM_OF_GOVERNMENT = "us-gov-west-1";
  private static final String CLOUD_FORMATION_VERSION = "2010-05-15";

  private final Endpoints endpoints;
  private final String region;
  private final AwsCredentialsProvider credentials;

  /**
   * @param endpoints the addresses of the services, by their names in signatures
   */
  public AwsAccount(Endpoints endpoints, String region, AwsCredentialsProvider credentials) {
    this.endpoints = endpoints;
    this.region = region;
    this.credentials = credentials;
  }

  /** An account on AWS, in a Region. */
  public static AwsAccount onAws(String region, Optional<String> profile) {
    String suffix = PartitionMetadata.of(Region.of(region)).dnsSuffix();
    return new AwsAccount(
        (service, where) ->
            URI.create(
                "https://"
                    + (service.equals("iam") ? iam(where) : service + "." + where)
                    + "."
                    + suffix),
        region,
        RequestSigner.credentials(profile));
  }

  /** IAM has one address in each partition, and none in the other Regions. */
  private static String iam(String region) {
    return switch (region) {
      case IAM_OF_CHINA -> "iam." + region;
      case IAM_OF_GOVERNMENT -> "iam.us-gov";
      default -> "iam";
    };
  }

  /** An operation of IAM, which is signed for one Region of each partition. */
  public static Response iam(Account account, String action, Map<String, String> parameters) {
    String region = account.region();
    Account global =
        account.inRegion(
            region.startsWith("cn-")
                ? IAM_OF_CHINA
                : region.startsWith("us-gov-") ? IAM_OF_GOVERNMENT : IAM);
    return query(global.api("iam"), action, IAM_VERSION, parameters);
  }

  /**
   * The names of all roles.
   *
   * @throws Failure if IAM refuses
   */
  public static List<String> roles(Account account) {
    List<String> names = new ArrayList<>();
    Optional<String> marker = Optional.empty();
    do {
      Map<String, String> parameters = new LinkedHashMap<>(Map.of("MaxItems", "1000"));
      marker.ifPresent(it -> parameters.put("Marker", it));
      Response answer = iam(account, "ListRoles", parameters);
      if (!answer.succeeded()) {
        throw Failure.of("IAM refuses ListRoles: " + answer.status());
      }
      names.addAll(Xml.texts(answer.body(), "RoleName"));
      marker = Xml.text(answer.body(), "Marker").filter(it -> !it.isEmpty());
    } while (marker.isPresent());
    return names;
  }

  @Override
  public Sender api(String service) {
    return new Api(
        Api.client(),
        endpoints.of(service, region),
        Optional.of(RequestSigner.forService(service, region, credentials)));
  }

  @Override
  public Api deployed(URI api) {
    return new Api(
        Api.client(),
        api,
        Optional.of(RequestSigner.forService("execute-api", region, credentials))
            .filter(signer -> RequestSigner.signs(api)));
  }

  @Override
  public CloudWatchClient metrics() {
    return CloudWatchClient.builder()
        .endpointOverride(endpoints.of("monitoring", region))
        .region(Region.of(region))
        .credentialsProvider(credentials)
        .build();
  }

  @Override
  public Map<String, String> credentials() {
    AwsCredentials resolved = credentials.resolveCredentials();
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("AWS_ACCESS_KEY_ID", resolved.accessKeyId());
    variables.put("AWS_SECRET_ACCESS_KEY", resolved.secretAccessKey());
    if (resolved instanceof AwsSessionCredentials session) {
      variables.put("AWS_SESSION_TOKEN", session.sessionToken());
    }
    return variables;
  }

  @Override
  public Optional<Instant> expiresAt() {
    return credentials.resolveCredentials().expirationTime();
  }

  @Override
  public String region() {
    return region;
  }

  @Override
  public Account inRegion(String other) {
    return new AwsAccount(endpoints, other, credentials);
  }

  @Override
  public Account as(String role, Map<String, String> tags) {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("RoleArn", role);
    parameters.put("RoleSessionName", "prove");
    parameters.put("DurationSeconds", String.valueOf(ASSUMED_FOR.toSeconds()));
    int number = 1;
    for (Map.Entry<String, String> tag : new TreeMap<>(tags).entrySet()) {
      parameters.put("Tags.member." + number + ".Key", tag.getKey());
      parameters.put("Tags.member." + number + ".Value", tag.getValue());
      number++;
    }
    Response answer = query(api("sts"), "AssumeRole", STS_VERSION, parameters);
    if (!answer.succeeded()) {
      throw Failure.of(
          "Cannot assume role %s: %d %s"
              .formatted(role, answer.status(), Xml.text(answer.body(), "Message").orElse("")));
    }
    return new AwsAccount(
        endpoints,
        region,
        StaticCredentialsProvider.create(
            AwsSessionCredentials.builder()
                .accessKeyId(Xml.text(answer.body(), "AccessKeyId").orElse(""))
                .secretAccessKey(Xml.text(answer.body(), "SecretAccessKey").orElse(""))
                .sessionToken(Xml.text(answer.body(), "SessionToken").orElse(""))
                .expirationTime(Instant.parse(Xml.text(answer.body(), "Expiration").orElse("")))
                .build()));
  }

  /**
   * The number of the caller's account.
   *
   * @throws Failure if the caller has no valid credentials, or those of the root user, whom AWS
   *     lets assume no role
   */
  public static String number(Account account) {
    Response answer = query(account.api("sts"), "GetCallerIdentity", STS_VERSION, Map.of());
    Xml.text(answer.body(), "Arn")
        .filter(arn -> arn.endsWith(":root"))
        .ifPresent(
            root -> {
              throw Failure.of(
                  root
                      + " may not assume roles, which `prove` needs. Use an administrator's"
                      + " credentials instead of the root user's.");
            });
    return Optional.of(answer)
        .filter(Response::succeeded)
        .flatMap(valid -> Xml.text(valid.body(), "Account"))
        .orElseThrow(
            () ->
                Failure.of(
                    "AWS does not accept these credentials: %d %s. Check them with `aws sts"
                            .formatted(
                                answer.status(), Xml.text(answer.body(), "Message").orElse(""))
                        + " get-caller-identity`."));
  }

  /**
   * Whether a stack exists, also one that is being deleted.
   *
   * @throws Failure if CloudFormation refuses the question
   */
  public static boolean hasStack(Account account, String stack) {
    return stack(account, stack).isPresent();
  }

  /**
   * The status of a stack, such as {@code DELETE_FAILED}; empty if there is none.
   *
   * @throws Failure if CloudFormation refuses the question
   */
  public static Optional<String> stackStatus(Account account, String stack) {
    return stack(account, stack)
        .map(description -> Xml.text(description, "StackStatus").orElse("UNKNOWN"));
  }

  /**
   * CloudFormation's description of a stack, in XML; empty if there is none.
   *
   * @throws Failure if CloudFormation refuses the question
   */
  public static Optional<String> stack(Account account, String stack) {
    Response answer =
        query(
            account.api("cloudformation"),
            "DescribeStacks",
            CLOUD_FORMATION_VERSION,
            Map.of("StackName", stack));
    if (answer.succeeded()) {
      return Optional.of(answer.body());
    }
    String message = Xml.text(answer.body(), "Message").orElse(answer.body());
    if (message.contains("does not exist")) {
      return Optional.empty();
    }
    throw Failure.of("Cannot describe stack %s: %d %s".formatted(stack, answer.status(), message));
  }

  /**
   * A request of the query protocol, as a GET, which AWS accepts for short requests.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonParameters.html">Common
   *     parameters</a>
   */
  private static Response query(
      Sender api, String action, String version, Map<String, String> parameters) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Action", action);
    all.put("Version", version);
    all.putAll(parameters);
    // Some services answer a request that accepts JSON with JSON.
    return api.send("GET", "/?" + Api.query(all), Optional.empty(), Map.of("Accept", "text/xml"));
  }
}
