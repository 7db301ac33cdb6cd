package dev.tollgate.core.testing.memory;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ActivityContract;

class InMemoryActivityTest extends ActivityContract {
  private final InMemorySessions sessions = new InMemorySessions();
  private final InMemoryBuckets buckets = new InMemoryBuckets();
  private final Activity activity = new InMemoryActivity(sessions, buckets);

  @Override
  protected Activity activity() {
    return activity;
  }

  @Override
  protected Connections connections() {
    return sessions;
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}
