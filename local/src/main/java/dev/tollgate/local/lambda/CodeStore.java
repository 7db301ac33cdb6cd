package dev.tollgate.local.lambda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The deployment packages of functions that were created at run time. A kept package is stored
 * once, in a file named by its hash, even if several functions use it.
 */
public final class CodeStore {
  private static final String SUFFIX = ".jar";

  private final Optional<Path> directory;
  private final Map<Path, Known> known = new ConcurrentHashMap<>();

  /** The state of a file when it was read. */
  private record Known(FileTime modified, long size, String hash) {}

  /**
   * A deployment package.
   *
   * @param sha256 hash of its content, in hexadecimal digits
   */
  public record Code(Path jar, String sha256, long size) {

    /** The hash in the form that Lambda returns. */
    String base64() {
      return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(sha256));
    }
  }

  /**
   * A store.
   *
   * @param directory where packages are kept; without it packages from requests are in temporary
   *     files, and packages from files stay in these files
   */
  public CodeStore(Optional<Path> directory) {
    this.directory = directory;
  }

  /** The package in a file. It is copied to the directory unless it is there already. */
  public Code keep(Path jar) {
    try {
      Code code = read(jar);
      Optional<Path> kept = directory.map(place -> place.resolve(code.sha256() + SUFFIX));
      if (kept.isEmpty()) {
        return code;
      }
      if (!Files.exists(kept.get())) {
        Files.createDirectories(directory.get());
        Path copy = Files.createTempFile(directory.get(), "new", null);
        Files.copy(jar, copy, StandardCopyOption.REPLACE_EXISTING);
        Files.move(copy, kept.get(), StandardCopyOption.ATOMIC_MOVE);
      }
      return new Code(kept.get(), code.sha256(), code.size());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A package from a request. */
  Code keep(byte[] zip) {
    try {
      Path file = Files.createTempFile("tollgate-function", SUFFIX);
      file.toFile().deleteOnExit();
      Files.write(file, zip);
      Code code = keep(file);
      if (!code.jar().equals(file)) {
        Files.delete(file);
      }
      return code;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A package that was kept. */
  Optional<Code> find(String sha256) {
    return directory
        .map(place -> place.resolve(sha256 + SUFFIX))
        .filter(Files::exists)
        .map(
            jar -> {
              try {
                return new Code(jar, sha256, Files.size(jar));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  /** Deletes the packages that are not among these. */
  void retain(Collection<String> hashes) {
    Set<String> names = hashes.stream().map(hash -> hash + SUFFIX).collect(Collectors.toSet());
    if (directory.isEmpty() || !Files.isDirectory(directory.get())) {
      return;
    }
    try (Stream<Path> files = Files.list(directory.get())) {
      for (Path file : files.toList()) {
        if (!names.contains(file.getFileName().toString())) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A package that is not copied. It is read once as long as its file does not change. */
  Code read(Path jar) throws IOException {
    FileTime modified = Files.getLastModifiedTime(jar);
    long size = Files.size(jar);
    Known last = known.get(jar);
    if (last == null || !last.modified().equals(modified) || last.size() != size) {
      try {
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        last =
            new Known(
                modified, size, HexFormat.of().formatHex(sha256.digest(Files.readAllBytes(jar))));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has it", e);
      }
      known.put(jar, last);
    }
    return new Code(jar, last.hash(), size);
  }
}
