package dev.tollgate.aws.credentials;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.time.InstantSource;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest;
import software.amazon.awssdk.services.sts.model.AssumeRoleResponse;

/** Prints how much memory the credentials of a tenant take in an instance. */
final class CredentialMemory {
  private static final int TENANTS = 20_000;

  private CredentialMemory() {}

  public static void main(String[] args) {
    AssumedRoles roles =
        new AssumedRoles(
            new Sts(),
            "arn:role",
            CredentialStore.NONE,
            new CredentialFailures(InstantSource.system(), line -> {}),
            TENANTS,
            InstantSource.system(),
            () -> 0.5);
    long before = used();
    for (int i = 0; i < TENANTS; i++) {
      roles.of(new TenantId("tenant-" + i));
    }
    long after = used();
    roles.of(new TenantId("tenant-0"));
    System.out.printf("%,d bytes a tenant%n", (after - before) / TENANTS);
  }

  private static long used() {
    for (int i = 0; i < 5; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** Session tokens of AWS have some 1,000 characters if there is a tag. */
  private static final class Sts implements StsClient {
    @Override
    public AssumeRoleResponse assumeRole(AssumeRoleRequest request) {
      String tenant = request.tags().get(0).value();
      return AssumeRoleResponse.builder()
          .credentials(
              c ->
                  c.accessKeyId("ASIA" + tenant)
                      .secretAccessKey("s".repeat(30) + tenant)
                      .sessionToken("t".repeat(1_000) + tenant)
                      .expiration(Instant.now().plusSeconds(3_600)))
          .build();
    }

    @Override
    public String serviceName() {
      return "sts";
    }

    @Override
    public void close() {}
  }
}
