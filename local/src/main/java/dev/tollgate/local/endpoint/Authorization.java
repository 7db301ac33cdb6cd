package dev.tollgate.local.endpoint;

import java.util.Optional;

/** Decides whether a call is allowed. */
@FunctionalInterface
public interface Authorization {
  /** Allows every call. */
  Authorization NONE = call -> Optional.empty();

  /** The reason for a refusal, in the words of AWS; empty if the call is allowed. */
  Optional<String> refusal(Call call);
}
