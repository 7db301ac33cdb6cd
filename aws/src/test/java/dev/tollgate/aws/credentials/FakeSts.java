package dev.tollgate.aws.credentials;

import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest;
import software.amazon.awssdk.services.sts.model.AssumeRoleResponse;
import software.amazon.awssdk.services.sts.model.StsException;

/** Issues credentials for an hour, numbered in their access keys, or is throttled. */
final class FakeSts implements StsClient {
  private final InstantSource clock;
  private final AtomicLong calls = new AtomicLong();
  private volatile boolean throttled;

  FakeSts(InstantSource clock) {
    this.clock = clock;
  }

  long calls() {
    return calls.get();
  }

  void throttle(boolean on) {
    throttled = on;
  }

  @Override
  public AssumeRoleResponse assumeRole(AssumeRoleRequest request) {
    long number = calls.incrementAndGet();
    if (throttled) {
      throw StsException.builder().message("Rate exceeded").statusCode(400).build();
    }
    return AssumeRoleResponse.builder()
        .credentials(
            credentials ->
                credentials
                    .accessKeyId(request.tags().get(0).value() + "-" + number)
                    .secretAccessKey("secret")
                    .sessionToken("token")
                    .expiration(
                        clock.instant().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS)))
        .build();
  }

  @Override
  public String serviceName() {
    return "sts";
  }

  @Override
  public void close() {}
}
