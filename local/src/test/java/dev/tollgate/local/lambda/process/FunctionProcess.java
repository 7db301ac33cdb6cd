package dev.tollgate.local.lambda.process;

import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A function in a JVM of its own. Its init phase is over, and so is the restore phase of one that
 * starts from a snapshot.
 */
public final class FunctionProcess implements AutoCloseable {
  /** A process that does not answer in this time hangs. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final RuntimeApi api;
  private final Path output;
  private final Duration init;
  private final Optional<Failure> initError;

  FunctionProcess(Process process, RuntimeApi api, Path output) {
    long start = System.nanoTime();
    this.process = process;
    this.api = api;
    this.output = output;
    var unused =
        process.onExit().thenAccept(end -> api.ended("exit value " + end.exitValue() + output()));
    this.initError = get(api.ready);
    this.init = Duration.ofNanos(System.nanoTime() - start);
  }

  /** The time from the start of the process until it asked for an event. */
  public Duration initTime() {
    return init;
  }

  /** The error with which the constructor or a hook of the snapshot failed, if it did. */
  public Optional<Failure> initError() {
    return initError;
  }

  /** How often the function has read its credentials from the endpoint of its container. */
  public int credentialsRead() {
    return api.credentialsRead();
  }

  /** What the function has written to its log so far. */
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Invokes the function. As in Lambda, the caller gets the error of the init phase if that failed.
   *
   * @param event JSON
   */
  public InvocationResult invoke(String event) {
    return initError.isPresent() ? initError.get() : get(api.invoke(event));
  }

  private <T> T get(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      close();
      throw new IllegalStateException(output(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    api.close();
  }
}
