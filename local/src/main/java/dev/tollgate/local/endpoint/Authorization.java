package dev.tollgate.local.endpoint;

import java.util.Optional;

/** Says whether a call may be made. */
@FunctionalInterface
public interface Authorization {
  /** Everybody may make every call. */
  Authorization NONE = call -> Optional.empty();

  /** Why a call may not be made, as AWS puts it; nothing if it may. */
  Optional<String> refusal(Call call);
}
