package dev.tollgate.local.lambda;

import java.util.Map;

/** Where the instances of a function get the credentials of its role from. */
public interface Credentials {

  /** For functions that call nobody. */
  Credentials NONE =
      new Credentials() {
        @Override
        public Map<String, String> issue() {
          return Map.of();
        }

        @Override
        public void revoke(Map<String, String> issued) {}
      };

  /** The environment variables that hold the credentials of one instance. */
  Map<String, String> issue();

  /** Makes credentials worthless, because their instance is no more. */
  void revoke(Map<String, String> issued);
}
