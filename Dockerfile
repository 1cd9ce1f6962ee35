# tutelage with its explorer, on a CPU:
#   docker build -t tutelage .
#   docker run --rm -v "$PWD/out:/work/out" tutelage run teacher-models/rates
#   docker run --rm -p 127.0.0.1:8765:8765 tutelage explore --host 0.0.0.0 --port 8765 --no-open
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/tutelage \
 && /opt/tutelage/bin/pip install --no-cache-dir --require-hashes --requirement requirements.txt \
 && /opt/tutelage/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
COPY --from=build /opt/tutelage /opt/tutelage
RUN useradd --create-home --uid 1000 tutelage \
 && install --directory --owner tutelage /work
USER 1000
WORKDIR /work
ENV PATH="/opt/tutelage/bin:$PATH"
ENTRYPOINT ["tutelage"]
CMD ["--help"]
