package dev.tollgate.cli.local;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.PrivateFiles;
import dev.tollgate.local.faults.FaultPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The local cloud of module {@code local}, in this JVM. */
public final class InProcessCloud implements Cloud {
  private final LocalCloud cloud;
  private final Optional<RequestFile> requests;

  private InProcessCloud(LocalCloud cloud, Optional<RequestFile> requests) {
    this.cloud = cloud;
    this.requests = requests;
  }

  /**
   * Starts a local cloud.
   *
   * @throws Failure if the local cloud does not start
   */
  public static InProcessCloud start(Settings settings) {
    return start(settings, InstantSource.system());
  }

  /**
   * Starts a local cloud with another clock.
   *
   * @throws Failure if the local cloud does not start
   */
  public static InProcessCloud start(Settings settings, InstantSource clock) {
    try {
      Options options =
          new Options(
              settings.assembly(),
              settings.bind(),
              settings.port(),
              settings.hosts(),
              settings.data(),
              Optional.of(settings.log()),
              settings.keySets(),
              settings.iam(),
              plan(settings),
              Optional.empty(),
              clock);
      Optional<RequestFile> requests = settings.requests().map(RequestFile::create);
      return new InProcessCloud(
          LocalCloud.start(requests.map(options::observedBy).orElse(options)), requests);
    } catch (Failure e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw Failure.of("The local cloud did not start: " + reason(e), e);
    }
  }

  private static FaultPlan plan(Settings settings) throws IOException {
    if (settings.faults().isEmpty()) {
      return FaultPlan.none();
    }
    try {
      return FaultPlan.read(settings.faults().get());
    } catch (NoSuchFileException e) {
      throw Failure.usage("--faults: " + e.getMessage() + " (expected: an existing file)");
    } catch (IllegalArgumentException e) {
      throw Failure.usage("--faults: " + e.getMessage());
    }
  }

  /** The messages of an exception and its causes. */
  private static String reason(Throwable failure) {
    String message = Optional.ofNullable(failure.getMessage()).orElse(failure.toString());
    Throwable cause = failure.getCause();
    return cause == null ? message : message + "; " + reason(cause);
  }

  @Override
  public void writeOutputs(Path file) {
    cloud.writeOutputs(file);
  }

  @Override
  public boolean writeClaimsEnvironment(Path file) {
    Optional<String> role = Optional.ofNullable(cloud.outputs().get("ApplicationRole"));
    Optional<String> variables = Optional.ofNullable(cloud.outputs().get("ApplicationVariables"));
    try {
      if (role.isEmpty() || variables.isEmpty()) {
        Files.deleteIfExists(file);
        return false;
      }
      String name = role.get().substring(role.get().lastIndexOf('/') + 1);
      List<String> lines = new ArrayList<>(variables.get().lines().toList());
      lines.addAll(lines(cloud.environmentOf(name)));
      PrivateFiles.write(file, lines);
      return true;
    } catch (IOException e) {
      throw Failure.of(file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void writeAlarmsEnvironment(Path file) {
    try {
      PrivateFiles.write(file, lines(cloud.environmentOfAlarms()));
    } catch (IOException e) {
      throw Failure.of(file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Map<String, String> environmentOfAdministrator(String name) {
    return cloud.environmentOf(cloud.accessKey(name));
  }

  private static List<String> lines(Map<String, String> variables) {
    return variables.entrySet().stream().map(one -> one.getKey() + "=" + one.getValue()).toList();
  }

  /** Waits until all work that is due at the clock's instant is done. */
  public void settle() throws InterruptedException {
    cloud.settle();
  }

  @Override
  public void close() {
    cloud.close();
    requests.ifPresent(RequestFile::close);
  }
}
