package dev.tollgate.local.services;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Has a database write down what it holds in memory. The database does so by itself, but only twice
 * a second, and a commit does not wait for it. One flush serves all who ask while another is under
 * way.
 */
final class Flushes implements AutoCloseable {
  private final Connection connection;
  private boolean flushing;
  private long begun;
  private long done;

  private Flushes(Connection connection) {
    this.connection = connection;
  }

  /** Flushes of the H2 database that this process has open under a URL. */
  static Flushes open(String url) throws SQLException {
    return new Flushes(DriverManager.getConnection(url, "", ""));
  }

  /** Returns when what has been committed by now outlasts the end of this process. */
  void flush() {
    synchronized (this) {
      long wanted = begun + 1;
      while (flushing && done < wanted) {
        try {
          wait();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
      if (done >= wanted) {
        return;
      }
      flushing = true;
      begun++;
    }
    try (Statement statement = connection.createStatement()) {
      var unused = statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      throw new IllegalStateException("The queues cannot be written down", e);
    } finally {
      synchronized (this) {
        done = begun;
        flushing = false;
        notifyAll();
      }
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
