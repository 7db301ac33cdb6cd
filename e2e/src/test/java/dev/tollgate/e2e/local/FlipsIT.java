package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.lawbook.Allowance;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Tenants that change between two tiers at random times, under load. {@code -Dtests.times=10} makes
 * ten times as many changes.
 */
@Tag("nightly")
final class FlipsIT {
  private static final int TENANTS = 10;
  private static final int FLIPS = 60 * Integer.getInteger("tests.times", 1);
  private static final long SEED = 20_260_312L;

  private static String tier(int perMinute) {
    return """
        {"isolation": "POOL", "buckets": {"connect": {"capacity": %d}},
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 10, "connectionsPerSession": 10,
                    "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 1}}"""
        .formatted(2 * perMinute, perMinute);
  }

  @Test
  void a_tenant_that_changes_tiers_stays_within_the_larger_tiers_limit() throws Exception {
    Random random = new Random(SEED);
    ExecutorService threads = Executors.newFixedThreadPool(TENANTS);
    try (LocalDeployment deployment = LocalDeployment.own();
        SqsClient sqs = deployment.inspect(SqsClient.builder())) {
      deployment.control("PUT", "/tiers/small", tier(4));
      deployment.control("PUT", "/tiers/large", tier(30));
      List<Flipped> tenants = new ArrayList<>();
      for (int i = 0; i < TENANTS; i++) {
        tenants.add(new Flipped(deployment, sqs, "flipped-" + i));
      }
      for (int flip = 0; flip < FLIPS / TENANTS; flip++) {
        deployment.advance(Duration.ofMillis(1 + random.nextInt(60_000)));
        List<Future<?>> flips = new ArrayList<>();
        tenants.forEach(tenant -> flips.add(threads.submit(tenant::claimAndFlip)));
        for (Future<?> done : flips) {
          done.get();
        }
      }
      long admitted = tenants.stream().mapToLong(tenant -> tenant.admitted).sum();
      System.out.println(FLIPS + " flips, " + admitted + " admitted; " + tenants.get(0).law);
      assertThat(admitted).isGreaterThan(FLIPS);
    } finally {
      threads.shutdownNow();
    }
  }

  /** A tenant that claims all available tokens and then changes its tier. */
  private static final class Flipped {
    private final LocalDeployment deployment;
    private final SqsClient sqs;
    private final String id;
    private final Allowance law;
    private long admitted;
    private boolean large;

    private Flipped(LocalDeployment deployment, SqsClient sqs, String id) {
      this.deployment = deployment;
      this.sqs = sqs;
      this.id = id;
      this.law =
          new Allowance(
              new Terms(Rate.perMinute(30), 60, 30, Duration.ofMinutes(1)),
              deployment.clock().instant());
      assertThat(deployment.onboard(id, "small", "{}").status()).isEqualTo(201);
    }

    private void claimAndFlip() {
      int tokens = claim();
      admitted += tokens;
      law.spend(tokens, deployment.clock().instant());
      assertThat(law.excess()).as("seed %s, %s: %s", SEED, id, law).isZero();
      large = !large;
      String body = "{\"tier\":\"" + (large ? "large" : "small") + "\"}";
      assertThat(deployment.control("PATCH", "/tenants/" + id, body).status()).isEqualTo(200);
    }

    private int claim() {
      String queue =
          "https://sqs.us-east-1.amazonaws.com/000000000000/connect_" + id + "_token_bucket";
      int taken = 0;
      while (true) {
        List<Message> tokens =
            sqs.receiveMessage(request -> request.queueUrl(queue).maxNumberOfMessages(10))
                .messages();
        if (tokens.isEmpty()) {
          return taken;
        }
        tokens.forEach(
            token ->
                sqs.deleteMessage(
                    request -> request.queueUrl(queue).receiptHandle(token.receiptHandle())));
        taken += tokens.size();
      }
    }
  }
}
