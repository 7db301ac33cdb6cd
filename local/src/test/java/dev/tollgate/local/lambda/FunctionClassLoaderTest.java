package dev.tollgate.local.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.datatype.sample.SampleModule;
import dev.tollgate.local.lambda.runtime.FunctionClassLoader;
import dev.tollgate.local.testing.HandlerJar;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FunctionClassLoaderTest {
  @TempDir private Path directory;

  /** A module of Jackson must see the same third-party types as the function's own classes. */
  @Test
  void functions_of_a_jar_share_jackson_but_not_its_modules() throws Exception {
    Path jar = HandlerJar.write(directory.resolve("f.jar"), Version.class, SampleModule.class);
    try (FunctionClassLoader one = new FunctionClassLoader(jar, line -> {});
        FunctionClassLoader other = new FunctionClassLoader(jar, line -> {})) {
      assertThat(one.loadClass(Version.class.getName()))
          .isSameAs(other.loadClass(Version.class.getName()))
          .isNotSameAs(Version.class);
      assertThat(one.loadClass(SampleModule.class.getName()).getClassLoader()).isSameAs(one);
    }
  }
}
