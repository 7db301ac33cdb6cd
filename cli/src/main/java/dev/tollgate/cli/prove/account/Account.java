package dev.tollgate.cli.prove.account;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;

/** An AWS account in one Region, as one caller. */
public interface Account {
  /** How long the credentials of a role are valid. */
  Duration ASSUMED_FOR = Duration.ofHours(1);

  /**
   * The API of a service.
   *
   * @param service the service's name in signatures, such as {@code sqs}
   */
  Sender api(String service);

  /**
   * Calls an operation of a service that speaks AWS's JSON protocol: version 1.0 for DynamoDB and
   * SQS, else 1.1, as their service models have it.
   *
   * @param target the model's name for the service and the operation, such as {@code
   *     AmazonSQS.ReceiveMessage}
   */
  default Response call(String service, String target, JsonNode request) {
    String version = Set.of("dynamodb", "sqs").contains(service) ? "1.0" : "1.1";
    return api(service)
        .send(
            "POST",
            "/",
            Optional.of(request),
            Map.of("Content-Type", "application/x-amz-json-" + version, "X-Amz-Target", target));
  }

  /** An HTTP API that is deployed in the account. Requests are signed if it is on AWS. */
  Api deployed(URI api);

  /** The client of CloudWatch, whose protocol is not JSON. The caller closes it. */
  CloudWatchClient metrics();

  /** The credentials as environment variables of the AWS SDKs, resolved now. */
  Map<String, String> credentials();

  /** When the credentials expire; empty if they do not, or nobody says. */
  Optional<Instant> expiresAt();

  /** The Region, such as {@code eu-central-1}. */
  String region();

  /** The same account and caller in another Region. */
  Account inRegion(String other);

  /**
   * The same account with the credentials of a role, which are requested now.
   *
   * @param role the role's ARN; its trust policy must allow this caller
   * @throws dev.tollgate.cli.http.Failure if the caller may not assume the role
   */
  default Account as(String role) {
    return as(role, Map.of());
  }

  /**
   * As {@link #as(String)}, with session tags.
   *
   * @param tags the values of the tags, by key
   */
  Account as(String role, Map<String, String> tags);
}
