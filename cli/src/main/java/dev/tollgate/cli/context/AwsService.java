package dev.tollgate.cli.context;

import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.RequestSigner;
import java.net.URI;
import java.util.Optional;
import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;

/** The AWS services of a deployment, without a client of the SDK. */
public final class AwsService {
  private AwsService() {}

  /** Whether a deployment is on AWS, not in a local cloud. */
  public static boolean isAws(Target target) {
    return RequestSigner.signs(target.outputs().controlPlane());
  }

  /**
   * A service in the deployment's Region, or of its local cloud.
   *
   * @param service its name in addresses and signatures, such as {@code logs}
   * @throws dev.tollgate.cli.http.Failure if the Region or the credentials are unknown
   */
  public static Api of(Target target, String service) {
    URI api = target.outputs().controlPlane();
    if (!isAws(target)) {
      LocalAccess local = LocalAccess.of(target.outputs());
      return new Api(
          Api.client(),
          local.endpoint(),
          Optional.of(RequestSigner.forService(service, local.region(), local.credentials())));
    }
    String region = RequestSigner.region(api, target.region(), target.profile());
    String suffix = PartitionMetadata.of(Region.of(region)).dnsSuffix();
    return new Api(
        Api.client(),
        URI.create("https://" + service + "." + region + "." + suffix),
        Optional.of(
            RequestSigner.forService(
                service, region, RequestSigner.credentials(target.profile()))));
  }
}
