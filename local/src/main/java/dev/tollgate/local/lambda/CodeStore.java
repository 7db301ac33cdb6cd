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
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The deployment packages of functions that were created at run time. A kept package is stored
 * once, in a file named by its hash, even if several functions use it.
 */
final class CodeStore {
  private static final String SUFFIX = ".jar";

  /** The name of a package, or of an unfinished copy. */
  private static final Pattern PACKAGE = Pattern.compile("[0-9a-f]{64}\\.jar|new\\d+\\.tmp");

  /** The packages of all clouds of the process. */
  private static final Map<Path, Known> KNOWN = new ConcurrentHashMap<>();

  private final Optional<Path> directory;

  /** A package, and the time of its file when it was read. */
  private record Known(FileTime modified, Code code) {}

  /**
   * A deployment package.
   *
   * @param sha256 hash of its content, in hexadecimal digits
   */
  record Code(String sha256, long size) {

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
  CodeStore(Optional<Path> directory) {
    this.directory = directory;
  }

  /** The package in a file. It is copied to the directory unless it is there already. */
  Path keep(Path jar) {
    if (directory.isEmpty()) {
      return jar;
    }
    Path kept = directory.get().resolve(read(jar).sha256() + SUFFIX);
    try {
      if (!Files.exists(kept)) {
        Files.createDirectories(directory.get());
        Path copy = Files.createTempFile(directory.get(), "new", null);
        Files.copy(jar, copy, StandardCopyOption.REPLACE_EXISTING);
        Files.move(copy, kept, StandardCopyOption.ATOMIC_MOVE);
      }
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A package from a request. */
  Path keep(byte[] zip) {
    try {
      Path file = Files.createTempFile("tollgate-function", SUFFIX);
      file.toFile().deleteOnExit();
      Files.write(file, zip);
      Path kept = keep(file);
      if (!kept.equals(file)) {
        Files.delete(file);
      }
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file of a package that was kept. */
  Optional<Path> find(String sha256) {
    return directory.map(place -> place.resolve(sha256 + SUFFIX)).filter(Files::exists);
  }

  /** Deletes the packages that are not among these, and no other files. */
  void retain(Collection<String> hashes) {
    if (directory.isEmpty() || !Files.isDirectory(directory.get())) {
      return;
    }
    try (Stream<Path> files = Files.list(directory.get())) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (PACKAGE.matcher(name).matches() && !hashes.contains(name.replace(SUFFIX, ""))) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A package that is not copied. It is read once as long as its file does not change. */
  Code read(Path jar) {
    try {
      FileTime modified = Files.getLastModifiedTime(jar);
      Known last = KNOWN.get(jar);
      if (last == null
          || !last.modified().equals(modified)
          || last.code().size() != Files.size(jar)) {
        byte[] content = Files.readAllBytes(jar);
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
        last = new Known(modified, new Code(HexFormat.of().formatHex(hash), content.length));
        KNOWN.put(jar, last);
      }
      return last.code();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }
}
