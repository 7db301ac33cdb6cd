package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Asks the virtual machine which locks this thread holds, because a lost lock only costs time. */
final class ClaimLocksTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private final ClaimLocks locks = new ClaimLocks();

  private static long held() {
    long[] thisThread = {Thread.currentThread().getId()};
    LockInfo[] held =
        ManagementFactory.getThreadMXBean()
            .getThreadInfo(thisThread, false, true)[0]
            .getLockedSynchronizers();
    return Stream.of(held)
        .filter(lock -> lock.getClassName().startsWith(ReentrantLock.class.getName()))
        .count();
  }

  @Test
  void lock_is_held_during_the_work_and_not_after_it() {
    long before = held();

    assertThat(locks.withLock(ID, ClaimLocksTest::held)).isEqualTo(before + 1);

    assertThat(held()).isEqualTo(before);
  }

  @Test
  void failed_work_releases_the_lock() {
    long before = held();

    assertThatThrownBy(
            () ->
                locks.withLock(
                    ID,
                    () -> {
                      throw new IllegalStateException("lost");
                    }))
        .isInstanceOf(IllegalStateException.class);

    assertThat(held()).isEqualTo(before);
  }
}
