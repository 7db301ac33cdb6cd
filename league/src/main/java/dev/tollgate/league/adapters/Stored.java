package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/**
 * Limiters on a Redis server or on DynamoDB Local, in processes of {@code league-stores}.
 * Concurrent callers are threads there, each with a proxy or a connection of its own.
 */
public final class Stored {
  private Stored() {}

  /** bucket4j on Redis, with compare and swap. Promises what {@link Bucket4j#maker} does. */
  public static Limiter.Maker bucket4jOnRedis() {
    return process("bucket4j-redis");
  }

  /** bucket4j on DynamoDB, with conditional writes. Promises what {@link Bucket4j#maker} does. */
  public static Limiter.Maker bucket4jOnDynamoDb() {
    return process("bucket4j-dynamodb");
  }

  /**
   * A script in Redis with the arithmetic of redis-gcra ({@code perform_gcra_ratelimit.lua}).
   * Promises a bucket, as exact as its rounding: of the tokens left, to whole ones. So half a token
   * more is admitted (slack), and the next caller waits for it as well (lateness). {@code TIME}
   * counts microseconds. README of redis-gcra: "the rate limit bucket has 1000 tokens in it and
   * recovers at speed of 100 tokens per minute", and "can retry in 1.2 seconds".
   */
  public static Limiter.Maker gcra() {
    Limiter.Maker process = process("gcra");
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        return process.make(setting);
      }

      @Override
      public Terms terms(Random random) {
        Terms any = process.terms(random);
        Duration half = any.rate().per().dividedBy(2 * any.rate().tokens());
        return new Terms(any.rate(), any.capacity(), 1, half.plusMillis(2));
      }
    };
  }

  private static Limiter.Maker process(String limiter) {
    return new StartedLimiter(() -> command(limiter));
  }

  private static List<String> command(String limiter) throws IOException {
    Path built = StartedLimiter.directory("league-stores/target");
    return List.of(
        ProcessHandle.current().info().command().orElse("java"),
        "-cp",
        built.resolve("classes")
            + File.pathSeparator
            + Files.readString(built.resolve("classpath")).strip(),
        "dev.tollgate.league.stores.StoreProcess",
        limiter);
  }
}
