package dev.tollgate.local.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodeStoreTest {
  @TempDir private Path directory;

  @Test
  void retain_deletes_only_packages() throws IOException {
    CodeStore store = new CodeStore(Optional.of(directory));
    Path kept = store.keep(new byte[] {1});
    Path unused = store.keep(new byte[] {2});
    Path copy = Files.createTempFile(directory, "new", null);
    Path other = Files.writeString(directory.resolve("release.jar"), "");

    store.retain(Set.of(kept.getFileName().toString().replace(".jar", "")));

    assertThat(kept).exists();
    assertThat(unused).doesNotExist();
    assertThat(copy).doesNotExist();
    assertThat(other).exists();
  }
}
